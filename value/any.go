package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
)

// ErrNotFinite is what a NaN or an infinity gives where it would become a value.
var ErrNotFinite = errors.New("expected a finite number, found NaN or an infinity")

// MaxDepth is how deep lists and maps may nest in what comes in (LANGUAGE.md §1).
const MaxDepth = 100

// FromAny is the value of a Go value of the shape that encoding/json makes:
// nil, booleans, numbers of every Go type, json.Number, *big.Int, strings,
// slices, and maps with string keys, which are put in sorted order; a nil slice or
// map is an empty one. A Value stands for itself. Everything else, a number that is not finite, and nesting
// beyond MaxDepth is an error that says where.
func FromAny(x any) (Value, error) {
	return fromAny(x, 0)
}

func fromAny(x any, depth int) (Value, error) {
	switch x := x.(type) {
	case nil:
		return Value{}, nil
	case Value:
		return x, nil
	case bool:
		return FromBool(x), nil
	case string:
		return FromString(x), nil
	case int:
		return FromInt(int64(x)), nil
	case int64:
		return FromInt(x), nil
	case float64:
		return FromFloat(x)
	case *big.Int:
		return FromBig(x), nil
	case json.Number:
		v, err := ParseJSON([]byte(x))
		if k := v.Kind(); err != nil || k != Int && k != Float {
			return Value{}, fmt.Errorf("expected a JSON number, found json.Number %s", quote(string(x)))
		}
		return v, nil
	case []any:
		return fromSlice(len(x), depth, func(i int) any { return x[i] })
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		return fromMap(keys, depth, func(k string) any { return x[k] })
	}
	return fromReflect(x, depth)
}

// fromReflect takes the Go types that are of the right shape under another name.
func fromReflect(x any, depth int) (Value, error) {
	r := reflect.ValueOf(x)
	switch r.Kind() {
	case reflect.Bool:
		return FromBool(r.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return FromInt(r.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return ownBig(new(big.Int).SetUint64(r.Uint())), nil
	case reflect.Float32, reflect.Float64:
		return FromFloat(r.Float())
	case reflect.String:
		return FromString(r.String()), nil
	case reflect.Slice, reflect.Array:
		if r.Type().Elem().Kind() == reflect.Uint8 {
			break // bytes are text to some and numbers to others
		}
		return fromSlice(r.Len(), depth, func(i int) any { return r.Index(i).Interface() })
	case reflect.Map:
		if r.Type().Key().Kind() != reflect.String {
			break
		}
		keys := make([]string, 0, r.Len())
		values := make(map[string]any, r.Len())
		for it := r.MapRange(); it.Next(); {
			keys = append(keys, it.Key().String())
			values[it.Key().String()] = it.Value().Interface()
		}
		return fromMap(keys, depth, func(k string) any { return values[k] })
	}
	return Value{}, fmt.Errorf("expected a value of JSON shape, found a Go %T", x)
}

func fromSlice(n, depth int, at func(int) any) (Value, error) {
	if depth >= MaxDepth {
		return Value{}, ErrDepth
	}
	items := make([]Value, n)
	for i := range items {
		v, err := fromAny(at(i), depth+1)
		if err != nil {
			return Value{}, fmt.Errorf("item %d: %w", i, err)
		}
		items[i] = v
	}
	return ownList(items), nil
}

func fromMap(keys []string, depth int, at func(string) any) (Value, error) {
	if depth >= MaxDepth {
		return Value{}, ErrDepth
	}
	slices.Sort(keys)
	var b MapBuilder
	b.Grow(len(keys))
	for _, k := range keys {
		v, err := fromAny(at(k), depth+1)
		if err != nil {
			return Value{}, fmt.Errorf("key %s: %w", quote(k), err)
		}
		b.Set(k, v)
	}
	return b.Value(), nil
}

// Any is v as encoding/json would hand it over: nil, bool, string, []any,
// map[string]any, float64 for a Float; an Int is an int64, or a *big.Int where
// it does not fit. Nothing in it is shared with v.
func (v Value) Any() any {
	switch v.Kind() {
	case Bool:
		return v.bits == 1
	case Int:
		if v.ref.big != nil {
			return new(big.Int).Set(v.ref.big)
		}
		return int64(v.bits)
	case Float:
		return v.float()
	case String:
		return v.str
	case List:
		items := make([]any, 0, v.bits)
		for _, item := range v.list() {
			items = append(items, item.Any())
		}
		return items
	case Map:
		m := make(map[string]any, len(v.ref.entries))
		for i := range v.ref.entries {
			m[v.ref.entries[i].Key] = v.ref.entries[i].Value.Any()
		}
		return m
	}
	return nil
}

// quote shows untrusted text in a message of ours: quoted, ASCII, short.
func quote(s string) string {
	const most = 40
	end := len(s)
	if end > most {
		end, _ = prefix(s[:min(end, 4*most)], most)
	}
	q := strconv.QuoteToASCII(s[:end])
	if end < len(s) {
		q += "…"
	}
	return q
}
