package bad

type lane struct{ Name, Text string }

const page = "page_context"

func fence(lane string) string { return "<" + lane + ">" }

func trustOf(channel string) string { return channel }

func pack(lanes []lane) string {
	out := ""
	for _, l := range lanes {
		out += fence("page_context") + l.Text // want `PF002: fence is looked up by the constant "page_context"`
		out += fence(page)                    // want `PF002`
		out += via("page_context")
		out += also("tool_results")
	}
	return out
}

func via(name string) string { return fence(name) } // want `PF002: fence is looked up by a parameter that only ever receives "page_context"`

func also(lane string) string {
	return trustOf(lane) + fence("page_context") // want `PF002: trustOf is looked up by a parameter` `PF002: fence is looked up by the constant`
}
