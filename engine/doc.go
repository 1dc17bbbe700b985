// Package engine is the core that runs .mkl machines: deterministic, on one
// goroutine, without clock, randomness, network, file or logger. It asks for
// effects and performs none.
//
// The driver's loop, whole:
//
//	run, err := engine.New(program, inputs, options)
//	for {
//		ready := run.Ready()
//		keep(ready.Records)             // durable before any effect is performed
//		show(ready.Events)
//		if ready.Outcome != nil {
//			break                       // Done, Halted or Suspended
//		}
//		for _, e := range ready.Effects { // new ones; several may be in flight
//			start(e)
//		}
//		id, result := wait()            // any of them, in any order
//		err = run.Step(id, result)
//	}
//
// The same program, inputs and results give the same run, whatever the order in
// which the results of a fan-out come back. What an Effect holds is valid until
// its result was given; what Ready returned until the next call of a method.
//
// The core never performs an effect, never draws a nonce, an id or a time, and
// never turns a value that is not the author's own into bare prompt text:
// prompts leave it as Docs, and package fence decides at render time.
package engine
