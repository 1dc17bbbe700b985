module github.com/pinfold-dev/pinfold/integrations/genkitprompt

go 1.26.0

require (
	github.com/pinfold-dev/pinfold v0.0.0
	github.com/firebase/genkit/go v1.4.0
)

replace github.com/pinfold-dev/pinfold => ../..
