# The commands people and CI use. `make test` is the test command.

GO      ?= go
FUZZ    ?= 5s
SOAK    ?= 1m
CHAOS   ?= 10m
SEEDS   ?= 10000
FROM    ?= 1048576
WORLDS  ?= large
STATES  ?= 5000000
TIME    ?= 1h
MEM     ?= 6

.PHONY: all build test race invariants soak chaos soak-sim fuzz lint bench bench-growth check-protocol check-spin mutants protos check-protos clean

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

# A cluster of processes under faults at random, for CHAOS.
chaos:
	CHAOS=$(CHAOS) $(GO) test -count=1 -v -timeout 0 ./internal/chaos

# Larger worlds of the hand-off, as many at a time as there are processors, each up to STATES states (0: all) and TIME, all within MEM GiB; WORLDS is part of a name.
check-protocol:
	$(GO) test -count=1 -timeout 24h -v -run '^TestLargeWorlds$$' ./kvpool/kvpooltest -args -worlds='$(WORLDS)' -states=$(STATES) -time=$(TIME) -mem=$(MEM)

# Each rule of the hand-off broken in turn: the checker must find every one.
mutants:
	$(GO) test -count=1 -timeout 60m -v -run '^TestMutants$$' ./kvpool/kvpooltest -args -mutants=all

# A simulated cluster under every fault, SEEDS times from seed FROM, on all cores.
soak-sim:
	$(GO) test -count=1 -v -timeout 0 -run TestSoak ./kvpool/kvpooltest/sim -soak $(SEEDS) -from $(FROM)

# Every fuzz target for FUZZ each.
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -tags fuzz -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "fuzz $$pkg $$target"; $(GO) test -run '^$$' -tags fuzz -fuzz "^$$target\$$" -fuzztime $(FUZZ) -fuzzminimizetime 20x $$pkg; done; done

lint:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change: $$unformatted"; exit 1; }
	$(GO) vet ./...

bench:
	$(GO) test -run '^$$' -bench . -benchtime 1s ./gpu/... ./model/... ./kvpool/... ./sched/...

# The tables and plots of docs/performance.md, measured anew: some ten minutes on a machine that does nothing else.
bench-growth:
	$(GO) run ./internal/bench/growth

# The hand-off protocol once more, as a model for spin (kvpool/spin/README.md).
check-spin:
	kvpool/spin/check.sh

# Go code of the messages between nodes, from protos/kvasir.
protos:
	protos/generate.sh

# The committed code is what the messages' files say.
check-protos:
	protos/check.sh

clean:
	rm -rf bin
