// Command unfenced-billing is a small billing assistant with every mistake in it
// that pinfold audit looks for. It is here to be audited, not to be run:
//
//	pinfold audit ./examples/unfenced-billing
//
// It is written as people write such programs: a handler, a store, a prompt that
// grew. Fourteen values are put into text for the model; nine of them were
// written by somebody outside; one of those nine is fenced.
package main

import (
	"database/sql"
	"flag"
	"log"
	"net/http"
	"os"

	"github.com/openai/openai-go/v3"
)

func main() {
	company := flag.String("company", "Harbour Pay", "whom the assistant speaks for")
	addr := flag.String("addr", "localhost:8080", "where to listen")
	driver := flag.String("driver", "postgres", "a database/sql driver that is linked in")
	flag.Parse()

	db, err := sql.Open(*driver, os.Getenv("BILLING_DSN"))
	if err != nil {
		log.Fatal(err)
	}
	a := &assistant{
		store:   &store{db: db},
		client:  openai.NewClient(),
		company: *company,
		tone:    os.Getenv("BILLING_TONE"),
	}
	http.HandleFunc("POST /signup", a.signup)
	http.HandleFunc("POST /callback", a.callback)
	http.HandleFunc("POST /articles", a.propose)
	http.HandleFunc("POST /ask/{customer}", a.ask)
	log.Fatal(http.ListenAndServe(*addr, nil))
}
