package main

import (
	"context"
	"database/sql"
)

type store struct{ db *sql.DB }

type customer struct {
	ID   int64
	Name string // typed into the sign-up form
	Note string // the CRM's note: call centre staff write it, and so does the call-back form
	Plan plan
	Due  int64 // in cents
}

type article struct {
	Title string
	Body  string
}

// plan is stored as a number; what the prompt shows is one of three words.
type plan int

func (p plan) words() string {
	switch p {
	case 1:
		return "team"
	case 2:
		return "enterprise"
	}
	return "free"
}

func (s *store) customer(ctx context.Context, id string) (*customer, error) {
	c := &customer{}
	row := s.db.QueryRowContext(ctx, `SELECT id, name, note, plan, due FROM customers WHERE id = $1`, id)
	if err := row.Scan(&c.ID, &c.Name, &c.Note, &c.Plan, &c.Due); err != nil {
		return nil, err
	}
	return c, nil
}

const searchArticles = `
	SELECT a.title, a.body
	FROM articles AS a JOIN topics t ON t.article_id = a.id
	WHERE t.word = $1
	ORDER BY a.updated DESC LIMIT 3`

func (s *store) articles(ctx context.Context, word string) ([]article, error) {
	rows, err := s.db.QueryContext(ctx, searchArticles, word)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []article
	for rows.Next() {
		var a article
		if err := rows.Scan(&a.Title, &a.Body); err != nil {
			return nil, err
		}
		found = append(found, a)
	}
	return found, rows.Err()
}

func (s *store) addCustomer(ctx context.Context, name string) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO customers (name, plan, due) VALUES ($1, $2, $3)`, name, 0, 0)
	return err
}

func (s *store) setNote(ctx context.Context, id, note string) error {
	_, err := s.db.ExecContext(ctx, `UPDATE customers SET note = $2 WHERE id = $1`, id, note)
	return err
}

func (s *store) addArticle(ctx context.Context, title, body string) error {
	_, err := s.db.ExecContext(ctx, "INSERT INTO articles (title, body, updated) VALUES ($1, $2, now())", title, body)
	return err
}
