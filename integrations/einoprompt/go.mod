module github.com/pinfold-dev/pinfold/integrations/einoprompt

go 1.26.0

require (
	github.com/pinfold-dev/pinfold v0.0.0
	github.com/cloudwego/eino v0.7.36
	github.com/bytedance/sonic v1.15.5 // indirect: earlier ones do not build with Go 1.26
)

replace github.com/pinfold-dev/pinfold => ../..
