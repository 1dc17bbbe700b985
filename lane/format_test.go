package lane_test

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/lane"
)

func TestFormat(t *testing.T) {
	in := "\ufeff# the head\r\n\r\n\r\n  version=1   # one\r\n[ trust . tool ]\r\nbanner  =  \"a # b\"\r\n# of the lane,\r\n#   two lines   \r\n[lane.a]\r\n" +
		"\ttrust='tool'\t# why\r\n\r\nbudget={tokens=5}\r\n\r\n# parted\r\n\r\n[[x]]\r\norigins=[ 'a',\r\n 'b' ]\r\nl = [ # c\r\n 1,\r\n 2 ]\r\nm = \"\"\"\r\n x\"\"\"\r\n# the tail"
	want := "# the head\n\nversion = 1 # one\n\n[trust.tool]\nbanner = \"a # b\"\n\n# of the lane,\n#   two lines\n[lane.a]\ntrust = 'tool' # why\n\nbudget = { tokens = 5 }\n\n# parted\n\n[[x]]\n" +
		"origins = ['a', 'b']\nl = [ # c\n 1,\n 2 ]\nm = \"\"\"\r\n x\"\"\"\n# the tail\n"
	got, err := lane.Format("f", []byte(in))
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, want)
	}
	if _, err := lane.Format("f", []byte("a = 1\na = 2\n")); err == nil || err.Error() != "f:2:1: a stands twice: expected it once, first found in line 1" {
		t.Errorf("got %v", err)
	}
	if got, err := lane.Format("f", nil); err != nil || len(got) != 0 {
		t.Errorf("%q %v", got, err)
	}
}

// The files of this repository are in the layout.
func TestOwnFilesAreLaidOut(t *testing.T) {
	for _, name := range []string{"testdata/lanes.toml", "../testdata/lanes/25.toml", "../examples/lanes-assistant/lanes.toml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := lane.Format(name, text); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// laidOut: Format keeps what a file says and every comment, and is its own end.
func laidOut(t errorer, text []byte) {
	t.Helper()
	once, err := lane.Format("f", text)
	if err != nil {
		return
	}
	again, err := lane.Format("f", once)
	if err != nil || !bytes.Equal(once, again) {
		t.Errorf("%q:\nonce  %q\ntwice %q %v", text, once, again, err)
	}
	var before, after map[string]any
	if toml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &before) != nil {
		return // what this package does not accept either: Format is only kind to it
	}
	if err := toml.Unmarshal(once, &after); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%q says %v, laid out %q says %v (%v)", text, before, once, after, err)
	}
	if a, b := bytes.Count(text, []byte("#")), bytes.Count(once, []byte("#")); a != b {
		t.Errorf("%q has %d #, laid out %q has %d", text, a, once, b)
	}
}

func TestFormatKeepsWhatItSays(t *testing.T) {
	parts := append([]string{"  # c \n", "a = 1 # d\n", "l = [1, 2, # e\n 3]\n", "l = [\n[ 'x' ] , {y = 1}]\n", "s = '''\n # no comment\r\n'''\n", "s = \"# none\"\n", "\n\n\n", "t = {a = [1], b = {}}\r\n", "d = 1979-05-27\n"}, fragments...)
	rapid.Check(t, func(t *rapid.T) {
		laidOut(t, []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 10).Draw(t, "parts"), "")))
	})
}
