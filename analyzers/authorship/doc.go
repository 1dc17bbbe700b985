// Package authorship reports columns that are declared trusted and that an outside
// source writes.
//
// # PF009: a trusted column with an outside writer
//
// A row is not the program's own because it is in the program's own database. The
// declaration says who writes a column; the code says who does.
//
//	// -declare customers.note=staff -trusted staff
//	db.Exec(`UPDATE customers SET note = $2 WHERE id = $1`, id, r.FormValue("note")) // PF009
//
// Quiet:
//
//	db.Exec(`UPDATE customers SET note = $2 WHERE id = $1`, id, "left a message")
//
// Under go vet the writers of one package are seen; pinfold audit sees those of
// the whole program, and reads the declarations from pinfold.yaml
// (audit.authorship).
package authorship
