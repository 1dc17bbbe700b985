// Package golangci is pinfold's analyzers as a module plugin of golangci-lint v2.
//
// It is a module of its own, so that the registration package is no dependency of
// pinfold. In .custom-gcl.yml:
//
//	version: v2.6.0
//	plugins:
//	  - module: github.com/pinfold-dev/pinfold/analyzers/golangci
//	    version: latest
//
// and in .golangci.yml:
//
//	version: "2"
//	linters:
//	  enable: [pinfold]
//	  settings:
//	    custom:
//	      pinfold: {type: module}
package golangci

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/pinfold-dev/pinfold/analyzers"
)

func init() { register.Plugin("pinfold", New) }

type plugin struct{}

// New makes the plugin. It has no settings: the analyzers' flags are their own.
func New(any) (register.LinterPlugin, error) { return plugin{}, nil }

// BuildAnalyzers returns every analyzer.
func (plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) { return analyzers.All(), nil }

// GetLoadMode asks for types: the walk builds SSA from them.
func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
