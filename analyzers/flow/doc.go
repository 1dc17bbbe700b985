// Package flow finds the places where text becomes model input, the slots that
// the text is made of, and walks back from each slot to whoever could have chosen
// its characters.
//
// It reads SSA and a call graph and runs nothing. It never decides that a value
// is safe because it looks safe: what it cannot follow comes back as an unknown
// origin, under its own class, and is neither trusted nor hidden. It follows data,
// not control: which branch an outside value chose is not reported.
//
// What is known of libraries (which function takes a prompt, which type holds a
// request) is data, in tables/. The shortest use:
//
//	a, err := flow.New(flow.Input{Fset: fset, Funcs: funcs, Graph: vta.CallGraph(set, cha)})
//	for _, slot := range a.Slots() {
//		fmt.Println(slot.Name, slot.Sink.Func, slot.Crosses())
//	}
//
// # Precision
//
// Calls are matched with their returns (six deep), locals by object, fields
// that are reached through a pointer from elsewhere by their type, containers by
// element. Numbers, times and the like are marked as unable to carry text, and
// are followed all the same: who chose them is still of interest.
package flow
