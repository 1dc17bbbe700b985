package config

import "log/slog"

// Secret is a text that is shown by no formatting, encoding or logging. The zero
// Secret is not set.
type Secret struct{ text string }

// NewSecret hides s.
func NewSecret(s string) Secret { return Secret{s} }

// Reveal is the text itself: for the one place that sends it.
func (s Secret) Reveal() string { return s.text }

// Set reports whether there is one.
func (s Secret) Set() bool { return s.text != "" }

// String says that there is one.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return "[secret]"
}

// GoString is for %#v.
func (s Secret) GoString() string { return "config.Secret{" + s.String() + "}" }

// MarshalText is for encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
