# The commands people and CI use. `make test` is the test command.

GO      ?= go
FUZZ    ?= 5s
SOAK    ?= 1m

.PHONY: all build test race invariants soak fuzz lint bench clean

all: lint test

build:
	$(GO) build -o bin/kvasir ./cmd/kvasir

test:
	$(GO) test -timeout 20m ./...

race:
	$(GO) test -race -timeout 40m ./...

# Freed pages poisoned with NaN, the ledger's invariants verified after every event.
invariants:
	$(GO) test -tags invariants -timeout 20m ./actors ./gpu/host
	$(GO) test -tags invariants -timeout 20m -run 'ManyClients|Close|Chat|Stop' .

# 64 clients of four tenants that cancel at random, for SOAK.
soak:
	KVASIR_SOAK=$(SOAK) $(GO) test -count=1 -v -run TestManyClientsWithCancels .

# Every fuzz target for FUZZ each.
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -tags fuzz -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "fuzz $$pkg $$target"; $(GO) test -run '^$$' -tags fuzz -fuzz "^$$target\$$" -fuzztime $(FUZZ) $$pkg; done; done

lint:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change: $$unformatted"; exit 1; }
	$(GO) vet ./...

bench:
	$(GO) test -run '^$$' -bench . -benchtime 1s ./gpu/... ./model/... ./kvpool/... ./sched/...

clean:
	rm -rf bin
