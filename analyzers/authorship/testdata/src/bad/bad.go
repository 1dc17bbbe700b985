package bad

import (
	"database/sql"
	"net/http"
)

func handle(db *sql.DB, r *http.Request) {
	db.Exec(`UPDATE customers SET note = $2 WHERE id = $1`, 1, r.FormValue("note"))   // want `PF009: customers.note is declared staff, and a user`
	db.Exec("INSERT INTO customers (id, note) VALUES (?, ?)", 1, r.FormValue("note")) // want `PF009`
	db.Exec("UPDATE customers SET name = ? WHERE id = ?", r.FormValue("name"), 1)     // name is not declared trusted
}
