package good

type lane struct{ Name, Text string }

func fence(lane string) string { return "<" + lane + ">" }

// wrapUntrusted is given the text, not a name.
func wrapUntrusted(text string) string { return "<" + text + ">" }

func pack(lanes []lane) string {
	out := wrapUntrusted("fixed")
	for _, l := range lanes {
		out += fence(l.Name) + l.Text
	}
	return out + via("a") + via("b") + Exported("c")
}

func via(name string) string { return fence(name) }

// Exported may have callers elsewhere: left to the audit.
func Exported(name string) string { return fence(name) }
