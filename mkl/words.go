package mkl

import "strings"

// shorten cuts a text of the document for a message.
func shorten(s string) string {
	const most = 60
	i := 0
	for at := range s {
		if i == most {
			return s[:at] + "…"
		}
		i++
	}
	return s
}

func andList(words []string) string { return wordList(words, " and ") }
func orList(words []string) string  { return wordList(words, " or ") }

func wordList(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + last + words[n]
}

func allowedHint(allowed []string, found string) string {
	if near := nearest(strings.ToLower(found), allowed); near != "" {
		return "did you mean ‹" + near + "›?"
	}
	return "allowed: " + strings.Join(allowed, ", ")
}

// nearest is the known word that a misspelt one was most likely meant to be, or
// "" when none is near: at most two edits, and fewer than half of the word.
func nearest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := edits(word, k); d < least && 2*d < max(len(word), 2) {
			best, least = k, d
		}
	}
	return best
}

// edits counts insertions, deletions, replacements and swaps of neighbours
// between two words. It gives up (99) on words too different in length to be
// near, which also keeps a key of a megabyte cheap.
func edits(a, b string) int {
	if len(a)-len(b) > 3 || len(b)-len(a) > 3 {
		return 99
	}
	var rows [3][]int
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := range len(a) {
		before, above, row := rows[0], rows[1], rows[2]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		rows[0], rows[1], rows[2] = above, row, before
	}
	return rows[1][len(b)]
}
