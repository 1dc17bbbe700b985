# The few things that need more than one command. CI and people use the same.
.PHONY: pinfoldvet vet audit-corpus scan integrations

pinfoldvet:
	go build -o bin/pinfoldvet ./cmd/pinfoldvet

# pinfold's own checks over pinfold. The packages that may vouch are named here.
vet: pinfoldvet
	go vet -vettool=bin/pinfoldvet -vouch.allow=run,engine,checkpoint,scenario ./...

# Audits the pinned public modules and prints precision and recall against the
# labels. Needs the network for what is not in the module cache.
audit-corpus:
	go run ./audit/corpus $(CORPUSFLAGS)

# The scan of other languages needs syntax trees, and with them cgo.
scan:
	go test -tags treesitter ./analyzers/sourcescan

# Each integration is a module of its own. The first run builds the frameworks, which
# takes minutes; needs the network for what is not in the module cache.
integrations:
	for m in integrations/*/; do (cd $$m && go vet ./... && go test ./...) || exit 1; done
