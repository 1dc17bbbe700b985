// Package schema holds the JSON Schemas (draft 2020-12) of the files that
// people write for pinfold, so that editors can complete and underline them.
//
// It decides nothing: mkl and mkl/check do, and say more. What a schema
// accepts they may refuse. The tests hold the schemas against both.
//
//	# yaml-language-server: $schema=mkl.schema.json
package schema

import _ "embed"

// Machine is the schema of *.mkl files.
func Machine() string { return machine }

// Scenarios is the schema of *.test.yaml files and of conformance cases.
func Scenarios() string { return scenarios }

//go:embed mkl.schema.json
var machine string

//go:embed test.schema.json
var scenarios string
