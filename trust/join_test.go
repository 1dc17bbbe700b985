package trust

import (
	"testing"

	"pgregory.net/rapid"
)

func TestJoinReusingIsTheJoin(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"", "host:a", "tool:b", "model:c", "sql:d"}), 0, 4)
	label := rapid.Custom(func(t *rapid.T) Label {
		return Label{level: rapid.SampledFrom([]Level{LevelExternal, LevelModel, LevelAuthor}).Draw(t, "level"),
			sources: NewSet(words.Draw(t, "sources")...), secrecy: NewSet(words.Draw(t, "secrecy")...)}
	})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(label, 1, 5).Draw(t, "parts")
		want := parts[0]
		for _, p := range parts[1:] {
			want = want.Join(p)
		}
		for _, old := range []Label{label.Draw(t, "old"), want} {
			if got := JoinReusing(old, parts); !got.Equal(want) {
				t.Fatalf("old %v, parts %v: got %v, want %v", old, parts, got, want)
			}
		}
		if got := JoinReusing(want, parts); got.sources.p != want.sources.p || got.secrecy.p != want.secrecy.p {
			t.Fatalf("%v was not reused", want)
		}
	})
}

func TestJoinReusingAllocatesNothing(t *testing.T) {
	parts := []Label{From("host:a"), ModelLabel("model:b"), {level: LevelAuthor}}
	old := parts[0].Join(parts[1]).Join(parts[2])
	if n := testing.AllocsPerRun(100, func() { old = JoinReusing(old, parts) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
	if !JoinReusing(Label{}, nil).External() {
		t.Error("the join of nothing is not External")
	}
}
