package good

import "database/sql"

func handle(db *sql.DB) {
	db.Exec(`UPDATE customers SET note = $2 WHERE id = $1`, 1, "left a message")
	db.Exec(`UPDATE customers SET note = 'x'`)
}
