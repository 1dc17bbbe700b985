package bad

import (
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/tool"
)

func pay() error { return nil }

var tools = []tool.Tool{
	{Name: "pay", Func: pay},                                            // want `PF007: a tool is registered without a policy`
	{Name: "pay", Policy: policy.Tool{Local: true}, Func: pay},          // want `PF007: a tool is registered without a class`
	{Name: "pay", Policy: policy.Tool{Class: policy.Effect}, Func: pay}, // want `PF007: an effect is registered with its sensitive parameters undeclared`
}
