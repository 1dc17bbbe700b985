package good

import (
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/tool"
)

func pay() error { return nil }

func tools(p policy.Tool) []tool.Tool {
	return []tool.Tool{
		{},
		{Name: "pay", Policy: policy.Tool{Class: policy.Effect, Sensitive: []string{"payee"}}, Func: pay},
		{Name: "now", Policy: policy.Tool{Class: policy.Read, Local: true}, Func: pay},
		{Name: "beep", Policy: policy.Tool{Class: policy.Effect, Sensitive: []string{}}, Func: pay},
		{Name: "given", Policy: p, Func: pay},
	}
}
