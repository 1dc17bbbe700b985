module github.com/pinfold-dev/pinfold/integrations/langchainprompt

go 1.26.0

require (
	github.com/pinfold-dev/pinfold v0.0.0
	github.com/tmc/langchaingo v0.1.14
)

replace github.com/pinfold-dev/pinfold => ../..
