package value_test

import (
	"errors"
	"fmt"

	"github.com/pinfold-dev/pinfold/value"
)

func Example() {
	v, err := value.ParseJSON([]byte(`{"n": 1, "items": ["a"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	items, _ := v.Get("items")
	next := v.With("items", items.Append(value.FromString("b")))
	fmt.Println(v.JSON())
	fmt.Println(next.JSON())
	// Output:
	// {"n": 1, "items": ["a"]}
	// {"n": 1, "items": ["a", "b"]}
}

func ExampleParseJSON() {
	_, err := value.ParseJSON([]byte(`{"choice": 2, "choice": 1}`))
	fmt.Println(err)
	fmt.Println(errors.Is(err, value.ErrDuplicateKey))
	// Output:
	// line 1, column 15: expected a key that the map does not have yet, found "choice" again
	// true
}

func ExampleValue_Text() {
	v := value.FromList(value.FromString("first"), value.FromInt(2), value.FromList(value.FromBool(true)))
	text, _ := v.Text(0)
	fmt.Println(text)
	cut, truncated := value.FromString("a text that is too long").Text(18)
	fmt.Println(cut, truncated)
	// Output:
	// 1. first
	// 2. 2
	// 3. 1. true
	// a text…[truncated] true
}

func ExampleClipJSON() {
	board := value.FromEntries(
		value.Entry{Key: "question", Value: value.FromString("Where is my parcel?")},
		value.Entry{Key: "answer", Value: value.FromString("On its way.")},
	)
	fmt.Println(value.ClipJSON(board.Len(), func(i int) (string, value.Value) { return board.Key(i), board.At(i) }, 50))
	// Output:
	// {"question": "…[context_truncated]… "On its way."}
}

func ExampleMapBuilder() {
	var b value.MapBuilder
	b.Grow(2)
	b.Set("step", value.FromInt(1))
	b.Set("state", value.FromString("draft"))
	fmt.Println(b.Value().JSON())
	// Output: {"step": 1, "state": "draft"}
}
