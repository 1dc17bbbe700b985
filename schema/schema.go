// Package schema holds the JSON Schemas of the files that people write for
// pinfold, so that editors can complete and underline them: draft 2020-12 for
// YAML, and draft 7 for lane files, which is what editors of TOML (taplo) read.
//
// It decides nothing: mkl, mkl/check and lane do, and say more. What a schema
// accepts they may refuse. The tests hold the schemas against them.
//
//	# yaml-language-server: $schema=mkl.schema.json
//	#:schema lanes.schema.json
package schema

import _ "embed"

// Machine is the schema of *.mkl files.
func Machine() string { return machine }

// Scenarios is the schema of *.test.yaml files and of conformance cases.
func Scenarios() string { return scenarios }

// Lanes is the schema of lanes.toml.
func Lanes() string { return lanes }

//go:embed mkl.schema.json
var machine string

//go:embed test.schema.json
var scenarios string

//go:embed lanes.schema.json
var lanes string
