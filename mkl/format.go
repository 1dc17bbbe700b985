package mkl

import "github.com/pinfold-dev/pinfold/mkl/yamltree"

// Format rewrites a machine's document in the standard layout
// ([yamltree.Format]), keeping comments and the order of everything. It is
// idempotent and does not change what the document means: its canonical form is
// the same before and after. It wants a document that is YAML by LANGUAGE.md §3
// and asks no more: a machine with a key missing can be formatted.
func Format(src []byte) ([]byte, error) { return yamltree.Format(src, layout()) }

// layout says where in a machine the scalars stand that are no strings.
func layout() *yamltree.Layout {
	free := &yamltree.Layout{Position: yamltree.Free}
	free.Rest, free.Items = free, free
	text := &yamltree.Layout{Position: yamltree.String}
	boolean := &yamltree.Layout{Position: yamltree.Bool}
	integer := &yamltree.Layout{Position: yamltree.Int}
	declarations := &yamltree.Layout{Items: &yamltree.Layout{Rest: text}}
	gate := &yamltree.Layout{
		Rest: text,
		Keys: map[string]*yamltree.Layout{"repair": integer, "escalate": boolean, "fail": boolean},
	}
	state := &yamltree.Layout{
		Rest: text,
		Keys: map[string]*yamltree.Layout{
			"reason": boolean, "accumulate": boolean,
			"sample": integer, "max_visits": integer,
			"input": free, "gates": {Items: gate},
		},
	}
	return &yamltree.Layout{
		Rest: text,
		Keys: map[string]*yamltree.Layout{
			"budget": integer, "context": free,
			"tools": declarations, "hooks": declarations,
			"states": {Rest: state},
		},
	}
}
