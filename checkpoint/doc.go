// Package checkpoint is the portable form of a parked run: the envelope of
// LANGUAGE.md §18.1 around the frames of the engine, and the files that hold it.
//
// An envelope pins what would run again (the bytes of the machine's file and the
// canonical form of every machine that can be reached), and carries the policies
// in force, so that a resume can only tighten them. It holds the whole blackboard
// in clear: files are 0600, and encryption is a store's business. No nonce is ever
// in one.
//
// The package runs nothing and decides nothing. It never repairs what it reads: a
// file that does not parse to its last byte is an error and is left alone.
//
//	e, err := checkpoint.Parse(b)
//	if names := e.Changed(program, source); len(names) > 0 { … } // refuse
//	err = checkpoint.Write(path, e.Encode())
package checkpoint
