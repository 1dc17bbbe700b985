package value

// String is the JSON text, for logs and for fmt.
func (v Value) String() string { return v.JSON() }
