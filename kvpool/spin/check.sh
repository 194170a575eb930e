#!/bin/sh
# Runs the model hand-off.pml: worlds that must hold, variants of the rules that must hold too, and mutants that spin must refute.
# Usage: check.sh [large]
set -u
model=$(cd "$(dirname "$0")" && pwd)/hand-off.pml
for tool in spin gcc; do
	command -v $tool >/dev/null || { echo "check.sh: $tool is missing; on Debian: apt-get install spin gcc" >&2; exit 1; }
done
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
failed=0

# pan DEFINES...: runs the verifier of one world, whose output is then in $tmp/out. $cflags and $pflags add to it.
cflags=-DSAFETY pflags=
pan() {
	rm -f "$tmp"/*
	(cd "$tmp" && spin -a "$@" "$model" && gcc $optimise -w $cflags -DCOLLAPSE -DMEMLIM=$memory -DVECTORSZ=2048 -o pan pan.c) >"$tmp/build" 2>&1 ||
		{ cat "$tmp/build"; exit 1; }
	(cd "$tmp" && ./pan -m100000 $pflags) >"$tmp/out" 2>&1
}
number() { sed -n "s/.*[ ,]\([0-9][0-9]*\) states, stored.*/\1/p; s/^ *\([0-9][0-9]*\) states, stored.*/\1/p" "$tmp/out" | head -1; }
complete() { grep -q 'errors: 0' "$tmp/out" && ! grep -Eq 'max search depth too small|out of memory|Search not completed|memory limit' "$tmp/out"; }

holds() {
	pan "$@"
	if complete; then printf '%10s states  ok  %s\n' "$(number)" "$*"; else failed=1; echo "FAILED: $*"; grep '^pan:' "$tmp/out"; fi
}

# refuted INVARIANTS DEFINES...: some assertion about one of these must fail. The steps are those of the run found first, setting up included.
refuted() {
	want=$1; shift
	pan "$@"
	got=$(sed -n 's/^pan:[0-9]*: assertion violated *(*\(I[0-9]*\).*/\1/p' "$tmp/out" | head -1)
	steps=$(cd "$tmp" && test -f hand-off.pml.trail && grep -vc '^-' hand-off.pml.trail)
	case ",$want," in
	*",$got,"*) printf '%-4s after %3s steps, %7s states  %s\n' "$got" "$steps" "$(number)" "$*" ;;
	*) failed=1; echo "SURVIVED or died of another cause (${got:-none}, wanted $want): $*"; grep '^pan:' "$tmp/out" ;;
	esac
}

pages2="-DK=2 -DNP=2 -DND=2"
memory=4000 optimise=-O0  # these worlds are small: to compile a verifier well takes longer than to run it

if [ "${1:-}" = large ]; then
	memory=${MEMLIM:-16000} optimise=-O2
	echo "Large worlds:"
	holds -DA=2 -DLOSS=1
	holds -DCRASH=1 -DLOSS=1 -DGEN=1 -DLIVE=1
	holds -DCRASH=2 -DGEN=1
	holds $pages2 -DG=2 -DCRASH=1 -DGEN=1
	holds -DA=2 -DCRASH=1 -DSERVE=1 -DOTHERS=0
	exit $failed
fi

echo "Worlds in which all must hold:"
holds
holds -DCRASH=1
holds -DLOSS=1
holds -DA=2
holds -DA=2 -DSHARE=1 -DND=2
holds -DA=2 -DWRONG=1
holds $pages2
holds $pages2 -DG=2
holds $pages2 -DG=2 -DLOSS=1 -DGEN=1 -DOTHERS=0
echo "Faults end at any moment, then all pages come home:"
holds -DLIVE=1 -DCRASH=1
holds -DLIVE=1 -DLOSS=1
holds -DLIVE=1 -DLOSS=1 -DGATEWAY_DIES=1
holds -DLIVE=1 -DA=2 -DGEN=1 -DOTHERS=0
holds -DLIVE=1 $pages2 -DG=2 -DGEN=1 -DOTHERS=0
echo "The same as a formula, which also excludes runs in circles:"
cflags=-DNOFAIR pflags=-a
holds -DLIVE=1 -DLTL
holds -DLIVE=1 -DLTL -DCRASH=1 -DGEN=1 -DOTHERS=0
holds -DLIVE=1 -DLTL -DLOSS=1 -DGEN=1 -DOTHERS=0
cflags=-DSAFETY pflags=
echo "Other rules that would do, and checks that could be left out here:"
holds -DLOSS=1 -DBUG_SUBMIT_NO_EPOCH -DKEEP_TOMBS
holds -DCRASH=1 -DZOMBIE -DFENCE_ON_RESTART
holds -DCRASH=1 -DBUG_NO_HEADER
holds -DCRASH=1 -DBUG_RELEASE_ANY_LINK
holds -DLOSS=1 -DBUG_RELEASE_ANY_LINK

echo "Mutants, which must be refuted:"
refuted I8 -DBUG_FREE_ON_CANCEL
refuted I8 -DBUG_ERROR_IS_DRAIN
refuted I8 -DBUG_NO_FENCE_D -DLOSS=1
refuted I8 -DBUG_FREE_ON_REVOKE
refuted I8 -DBUG_TIMER_FREES
refuted I8 -DBUG_NO_FENCE_P -DLOSS=1
refuted I8 -DBUG_RECONNECT -DLOSS=1
refuted I8 -DBUG_ONE_COUNT -DA=2 -DSHARE=1 -DND=2
refuted I8 -DCRASH=1 -DZOMBIE
refuted I7 -DBUG_RELEASE_EARLY
refuted I7 -DBUG_RELEASE_ON_REVOKE
refuted I7 -DBUG_VOUCH -DCRASH=1
refuted I7,I9 -DBUG_NO_TOMBSTONE
refuted I9 -DBUG_SEAL_GAP $pages2 -DG=2
refuted I9,I12 -DBUG_SUBMIT_NO_EPOCH -DLOSS=1
refuted I12 -DBUG_CANCEL_OF_OLD_LINK -DLOSS=1
refuted I5 -DBUG_NO_CHECKSUM -DCRASH=1
refuted I5 -DBUG_NO_CHAIN -DWRONG=1
refuted I5 -DBUG_NO_GENERATION -DA=2 -DCRASH=1 -DSERVE=1 -DOTHERS=0
refuted I4 -DBUG_OLD_SLAB -DCRASH=1
refuted I12 -DBUG_OFFER_REJECTED -DA=2
refuted I12 -DBUG_LAST_WINS
refuted I11 -DLIVE=1 -DBUG_SILENT_TOMBSTONE
refuted I11 -DLIVE=1 -DBUG_NO_RESEND
refuted I11 -DLIVE=1 -DGATEWAY_DIES=1 -DBUG_NO_DEADLINE_P
refuted I11 -DLIVE=1 -DGATEWAY_DIES=1 -DBUG_NO_DEADLINE_D
test $failed = 0 && echo "ok" || echo "FAILED"
exit $failed
