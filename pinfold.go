// Package pinfold draws trust boundaries through LLM programs. It answers one
// question everywhere: who chose these characters, and what are they about to
// cause?
//
// The module is a house of floors (DESIGN.md): values and fences (value, trust,
// fence), languages and decisions (mkl, policy), the core that runs .mkl
// machines (engine), contracts (llm, tool, hook, receipt), implementations and
// drivers (run, scenario, llm/openai, …), and the commands. This package holds
// nothing; start at package run to run a machine, at package fence to build a
// prompt, at cmd/pinfold for the command.
package pinfold
