package mkl

func Format(src []byte) ([]byte, error) { panic("TODO") }

// Canonical is the form that program hashes are made of (DESIGN.md, "Canonical form").
func Canonical(m *Machine) []byte { panic("TODO") }

// Hash is the lower-case hex SHA-256 of Canonical.
func Hash(m *Machine) string { panic("TODO") }
