// Package durable keeps runs: it is the driver of package run with a journal before
// effects, a checkpoint at the start of a turn and at a suspension, and the resume
// of LANGUAGE.md §18.3 with every refusal that it can come to.
//
// With a store the journal is the truth. A run that was killed is the fold of it:
// the frames of its last checkpoint, and the results since, given back to the core
// in the order in which they came. A call that may change the world is recorded as
// started before it is performed; one that was started and never finished is not
// guessed at, a person decides [C64].
//
// Every turn belongs to one driver. It holds the claim on the checkpoint that the
// turn started from, and appends to the journal at the place that it knows: a
// driver that was given up for dead and is not can neither append nor, for that
// reason, perform anything more.
//
// The package decides nothing about effects: the core does, under policies that a
// resume can only tighten.
//
//	k := &durable.Keeper{Store: st, By: me, Gone: gone}
//	out, err := k.Run(ctx, program, inputs, cfg, about)
//	// later, by anybody
//	parked, err := k.Open(ctx, runID, force)
//	defer parked.Close()
//	out, err = parked.Resume(ctx, program, cfg, about, durable.Request{Approve: ids})
package durable
