#!/usr/bin/env bash
# Everything that must hold before a change lands: formatting, vet, tests under
# the race detector, the conformance corpora, this repository's own examples.
# It needs Go and nothing else; without a C compiler the race detector is left
# out, and said so.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

say "gofmt"
unformatted=$(gofmt -l $(git ls-files '*.go' 2>/dev/null || find . -name '*.go') | grep -v '/testdata/' || true)
if [ -n "$unformatted" ]; then
  printf 'not formatted:\n%s\n' "$unformatted"
  exit 1
fi

say "go vet"
go vet ./...

race=-race
if ! command -v "$(go env CC)" >/dev/null 2>&1; then
  race=
  echo "no C compiler: the tests run without the race detector"
fi

say "go test $race ./..."
go test $race ./...

# The integrations with other frameworks take minutes to build: make integrations.
say "small modules of their own"
for mod in receipt/otel analyzers/golangci examples/unfenced-billing; do
  (cd "$mod" && go vet ./... && go test $race ./...)
done

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/pinfold" ./cmd/pinfold

say "conformance"
"$bin/pinfold" conformance testdata/conformance
for more in ../shared/conformance ../shared/conformance-generated; do
  if [ -d "$more" ]; then "$bin/pinfold" conformance "$more"; fi
done

say "examples"
"$bin/pinfold" check examples
"$bin/pinfold" lint --strict examples
for script in examples/*.test.yaml; do
  "$bin/pinfold" test "${script%.test.yaml}.mkl" --script "$script"
done

say "pinfoldvet"
go build -o "$bin/pinfoldvet" ./cmd/pinfoldvet
go vet -vettool="$bin/pinfoldvet" -vouch.allow=run,engine,checkpoint,scenario ./...

say "all fine"
