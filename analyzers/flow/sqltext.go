package flow

import (
	"strconv"
	"strings"
	"unicode"
)

// A statement is as much of a SQL text as an audit needs: what it reads, in
// order, and what it writes, from which argument.
type statement struct {
	reads  []column
	writes []colWrite
	table  string // the table written to
}

type column struct {
	table string // "" when it cannot be told
	name  string // "" for an expression over no column, "*" for all
	as    string
	uses  []column // the columns of an expression
}

type colWrite struct {
	column string
	arg    int    // the argument's position behind the query, -1: not an argument
	named  string // :name, @name
}

type sqlToken struct {
	kind byte // w word, s string, p punctuation, n number, a argument
	text string
}

func lexSQL(q string) []sqlToken {
	var out []sqlToken
	rs := []rune(q)
	for i := 0; i < len(rs); {
		c := rs[i]
		switch {
		case unicode.IsSpace(c):
			i++
		case c == '-' && i+1 < len(rs) && rs[i+1] == '-':
			for i < len(rs) && rs[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(rs) && rs[i+1] == '*':
			i += 2
			for i+1 < len(rs) && (rs[i] != '*' || rs[i+1] != '/') {
				i++
			}
			i += 2
		case c == '\'':
			j := i + 1
			for j < len(rs) {
				if rs[j] == '\'' {
					if j+1 < len(rs) && rs[j+1] == '\'' {
						j += 2
						continue
					}
					break
				}
				j++
			}
			out = append(out, sqlToken{'s', string(rs[min(i+1, len(rs)):min(j, len(rs))])})
			i = j + 1
		case c == '"' || c == '`' || c == '[' && i+1 < len(rs) && (unicode.IsLetter(rs[i+1]) || rs[i+1] == '_'):
			end := c
			if c == '[' {
				end = ']'
			}
			j := i + 1
			for j < len(rs) && rs[j] != end {
				j++
			}
			out = append(out, sqlToken{'w', string(rs[min(i+1, len(rs)):min(j, len(rs))])})
			i = j + 1
		case c == '$' || c == '?':
			j := i + 1
			for j < len(rs) && unicode.IsDigit(rs[j]) {
				j++
			}
			out = append(out, sqlToken{'a', string(rs[i:j])})
			i = j
		case c == ':' && i+1 < len(rs) && rs[i+1] == ':': // a cast: skip the type
			i += 2
			for i < len(rs) && (unicode.IsLetter(rs[i]) || unicode.IsDigit(rs[i]) || rs[i] == '_' || rs[i] == '[' || rs[i] == ']') {
				i++
			}
		case (c == ':' || c == '@') && i+1 < len(rs) && (unicode.IsLetter(rs[i+1]) || rs[i+1] == '_'):
			j := i + 1
			for j < len(rs) && (unicode.IsLetter(rs[j]) || unicode.IsDigit(rs[j]) || rs[j] == '_' || rs[j] == '.') {
				j++
			}
			out = append(out, sqlToken{'a', string(rs[i:j])})
			i = j
		case unicode.IsLetter(c) || c == '_':
			j := i
			for j < len(rs) && (unicode.IsLetter(rs[j]) || unicode.IsDigit(rs[j]) || rs[j] == '_' || rs[j] == '$') {
				j++
			}
			out = append(out, sqlToken{'w', string(rs[i:j])})
			i = j
		case unicode.IsDigit(c):
			j := i
			for j < len(rs) && (unicode.IsDigit(rs[j]) || rs[j] == '.') {
				j++
			}
			out = append(out, sqlToken{'n', string(rs[i:j])})
			i = j
		default:
			out = append(out, sqlToken{'p', string(c)})
			i++
		}
	}
	return out
}

func (t sqlToken) is(words ...string) bool {
	for _, w := range words {
		if t.kind == 'w' && strings.EqualFold(t.text, w) || t.kind == 'p' && t.text == w {
			return true
		}
	}
	return false
}

// looksSQL is a cheap test before a text is parsed.
func looksSQL(q string) bool {
	for w := range strings.FieldsSeq(q) {
		switch strings.ToUpper(strings.TrimLeft(w, "(")) {
		case "SELECT", "INSERT", "UPDATE", "WITH", "REPLACE", "MERGE", "DELETE", "COPY":
			return true
		}
		if !strings.HasPrefix(w, "--") { // sqlc puts a name first
			return strings.Contains(q, "-- name:")
		}
		return strings.Contains(strings.ToUpper(q), "SELECT ") || strings.Contains(strings.ToUpper(q), "INSERT ") || strings.Contains(strings.ToUpper(q), "UPDATE ")
	}
	return false
}

// parseSQL reads one statement. What it does not understand it leaves out.
func parseSQL(q string) statement {
	toks := lexSQL(q)
	var st statement
	depth := 0
	for i := 0; i < len(toks); i++ {
		switch {
		case toks[i].is("("):
			depth++
		case toks[i].is(")"):
			depth--
		case depth == 0 && toks[i].is("SELECT") && st.table == "":
			st.reads, _ = parseSelect(toks[i:])
			if st.table == "" {
				return st
			}
		case depth == 0 && toks[i].is("INSERT", "REPLACE"):
			parseInsert(toks[i:], &st)
			return st
		case depth == 0 && toks[i].is("UPDATE"):
			parseUpdate(toks[i:], &st)
			return st
		}
	}
	return st
}

// parseSelect reads a select list and resolves it against the FROM clause.
func parseSelect(toks []sqlToken) ([]column, int) {
	i := 1
	for i < len(toks) && toks[i].is("DISTINCT", "ALL") {
		i++
		if i < len(toks) && toks[i].is("ON") {
			i++
			i = skipParens(toks, i)
		}
	}
	items, i := splitList(toks, i, "FROM", "WHERE", "ORDER", "LIMIT", "UNION", "GROUP")
	aliases := map[string]string{}
	var first string
	tables := 0
	if i < len(toks) && toks[i].is("FROM") {
		i++
		expect := true
		for i < len(toks) && !toks[i].is("WHERE", "ORDER", "LIMIT", "GROUP", "HAVING", "UNION", "FOR", "OFFSET", "RETURNING", "WINDOW", ";") {
			switch {
			case toks[i].is("("):
				i = skipParens(toks, i)
				expect = false
				continue
			case toks[i].is(",", "JOIN"):
				expect = true
			case expect && toks[i].is("LATERAL", "ONLY"):
			case expect && toks[i].kind == 'w':
				name := toks[i].text
				for i+2 < len(toks) && toks[i+1].is(".") {
					name = toks[i+2].text
					i += 2
				}
				if first == "" {
					first = name
				}
				tables++
				alias := name
				if i+1 < len(toks) && toks[i+1].is("AS") {
					i++
				}
				if i+1 < len(toks) && toks[i+1].kind == 'w' && !toks[i+1].is("JOIN", "LEFT", "RIGHT", "INNER", "OUTER", "CROSS", "FULL", "ON", "USING", "WHERE", "ORDER", "LIMIT", "GROUP", "HAVING", "UNION", "FOR", "OFFSET", "NATURAL", "RETURNING", "WINDOW") {
					i++
					alias = toks[i].text
				}
				aliases[strings.ToLower(alias)] = name
				expect = false
			}
			i++
		}
	}
	var out []column
	for _, it := range items {
		out = append(out, parseItem(it, aliases, first, tables))
	}
	return out, i
}

func skipParens(toks []sqlToken, i int) int {
	if i >= len(toks) || !toks[i].is("(") {
		return i
	}
	d := 0
	for ; i < len(toks); i++ {
		if toks[i].is("(") {
			d++
		}
		if toks[i].is(")") {
			d--
			if d == 0 {
				return i + 1
			}
		}
	}
	return i
}

func splitList(toks []sqlToken, i int, stops ...string) ([][]sqlToken, int) {
	var items [][]sqlToken
	var cur []sqlToken
	d := 0
	for ; i < len(toks); i++ {
		if d == 0 && toks[i].is(stops...) {
			break
		}
		if d == 0 && toks[i].is(",") {
			items = append(items, cur)
			cur = nil
			continue
		}
		if toks[i].is("(") {
			d++
		}
		if toks[i].is(")") {
			d--
			if d < 0 {
				break
			}
		}
		cur = append(cur, toks[i])
	}
	if len(cur) > 0 {
		items = append(items, cur)
	}
	return items, i
}

func parseItem(it []sqlToken, aliases map[string]string, first string, tables int) column {
	resolve := func(qual string) string {
		if qual == "" {
			if tables == 1 {
				return first
			}
			return ""
		}
		if t, ok := aliases[strings.ToLower(qual)]; ok {
			return t
		}
		return qual
	}
	as := ""
	if n := len(it); n >= 2 && it[n-1].kind == 'w' {
		if it[n-2].is("AS") {
			as, it = it[n-1].text, it[:n-2]
		} else if it[n-2].kind == 'w' && n == 2 || n >= 2 && it[n-2].is(")") {
			as, it = it[n-1].text, it[:n-1]
		}
	}
	var cols []column
	for j := 0; j < len(it); j++ {
		if it[j].is("*") && (j == 0 || it[j-1].is(".")) && len(it) <= 3 {
			q := ""
			if j >= 2 {
				q = it[j-2].text
			}
			return column{table: resolve(q), name: "*", as: as}
		}
		if it[j].kind != 'w' || j > 0 && it[j-1].is(".") {
			continue
		}
		if j+1 < len(it) && it[j+1].is("(") {
			continue // a function
		}
		if j+2 < len(it) && it[j+1].is(".") {
			last := j + 2
			qual := it[j].text
			for last+2 < len(it) && it[last+1].is(".") {
				qual = it[last].text
				last += 2
			}
			if it[last].kind == 'w' {
				cols = append(cols, column{table: resolve(qual), name: it[last].text})
			}
			continue
		}
		if isSQLKeyword(it[j].text) {
			continue
		}
		cols = append(cols, column{table: resolve(""), name: it[j].text})
	}
	switch {
	case len(cols) == 0:
		return column{as: as}
	case len(cols) == 1:
		c := cols[0]
		c.as = as
		return c
	}
	return column{as: as, uses: cols}
}

func isSQLKeyword(s string) bool {
	switch strings.ToUpper(s) {
	case "CASE", "WHEN", "THEN", "ELSE", "END", "AND", "OR", "NOT", "NULL", "IS", "IN", "LIKE", "TRUE", "FALSE", "AS", "DISTINCT", "INTERVAL", "OVER", "PARTITION", "BY", "ORDER", "DESC", "ASC", "EXISTS", "SELECT", "FROM", "WHERE", "CAST", "TEXT", "INTEGER", "VARCHAR", "AT", "TIME", "ZONE", "FILTER", "BETWEEN", "ILIKE", "CURRENT_TIMESTAMP":
		return true
	}
	return false
}

func parseInsert(toks []sqlToken, st *statement) {
	i := 1
	for i < len(toks) && !toks[i].is("INTO") {
		i++
	}
	i++
	if i >= len(toks) {
		return
	}
	st.table = toks[i].text
	for i+2 < len(toks) && toks[i+1].is(".") {
		st.table = toks[i+2].text
		i += 2
	}
	i++
	if i < len(toks) && toks[i].is("AS") {
		i += 2
	}
	var cols []string
	if i < len(toks) && toks[i].is("(") {
		items, j := splitList(toks, i+1)
		for _, it := range items {
			if len(it) > 0 {
				cols = append(cols, it[len(it)-1].text)
			}
		}
		i = j + 1
	}
	pos := 0 // ? counted from the start
	for i < len(toks) && !toks[i].is("VALUES", "SELECT") {
		i++
	}
	if i < len(toks) && toks[i].is("SELECT") {
		reads, _ := parseSelect(toks[i:])
		for k, c := range cols {
			w := colWrite{column: c, arg: -1}
			if k < len(reads) && reads[k].name != "" {
				w.named = "" // copied from another column
			}
			for j := i; j < len(toks); j++ {
				if toks[j].kind == 'a' {
					w.arg = argNumber(toks[j].text, &pos)
					break
				}
			}
			st.writes = append(st.writes, w)
		}
		return
	}
	for i < len(toks) {
		if toks[i].is("VALUES", ",") {
			i++
		}
		if i >= len(toks) || !toks[i].is("(") {
			break
		}
		items, j := splitList(toks, i+1)
		for k, it := range items {
			w := colWrite{arg: -1}
			if k < len(cols) {
				w.column = cols[k]
			}
			for _, t := range it {
				if t.kind == 'a' {
					w.arg, w.named = argOf(t.text, &pos)
				}
			}
			st.writes = append(st.writes, w)
		}
		i = j + 1
	}
	for ; i < len(toks); i++ {
		if toks[i].is("SET") { // ON CONFLICT … DO UPDATE SET
			parseSet(toks[i+1:], st, &pos)
		}
		if toks[i].is("RETURNING") {
			st.reads, _ = returning(toks[i:], st.table)
			return
		}
	}
}

func returning(toks []sqlToken, table string) ([]column, int) {
	items, i := splitList(toks, 1)
	var out []column
	for _, it := range items {
		out = append(out, parseItem(it, map[string]string{strings.ToLower(table): table}, table, 1))
	}
	return out, i
}

func parseUpdate(toks []sqlToken, st *statement) {
	i := 1
	for i < len(toks) && toks[i].is("ONLY", "OR", "IGNORE") {
		i++
	}
	if i >= len(toks) {
		return
	}
	st.table = toks[i].text
	for i+2 < len(toks) && toks[i+1].is(".") {
		st.table = toks[i+2].text
		i += 2
	}
	for i < len(toks) && !toks[i].is("SET") {
		i++
	}
	if i >= len(toks) {
		return
	}
	pos := 0
	parseSet(toks[i+1:], st, &pos)
	for ; i < len(toks); i++ {
		if toks[i].is("RETURNING") {
			st.reads, _ = returning(toks[i:], st.table)
			return
		}
	}
}

func parseSet(toks []sqlToken, st *statement, pos *int) {
	items, _ := splitList(toks, 0, "WHERE", "RETURNING", "FROM", ";", "ON")
	for _, it := range items {
		eq := -1
		for j, t := range it {
			if t.is("=") {
				eq = j
				break
			}
		}
		if eq < 1 {
			continue
		}
		w := colWrite{column: it[eq-1].text, arg: -1}
		for _, t := range it[eq+1:] {
			if t.kind == 'a' {
				w.arg, w.named = argOf(t.text, pos)
			}
		}
		st.writes = append(st.writes, w)
	}
}

func argOf(text string, pos *int) (int, string) {
	if text[0] == ':' || text[0] == '@' {
		return -1, text[1:]
	}
	return argNumber(text, pos), ""
}

func argNumber(text string, pos *int) int {
	if n, err := strconv.Atoi(text[1:]); err == nil {
		return n - 1
	}
	n := *pos
	*pos++
	return n
}
