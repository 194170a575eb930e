/* The hand-off of KV pages, pull, as a model of its own: written from the rules in words, not from the ledger, so that the two can disagree.
 * How to read and run it: README.md. I2, I4, ... are the invariants of kvpool/doc.go.
 *
 * Every option of every process is one step and leaves the process where it was: all state is in the global variables. What a process waits for is the
 * guard of an option. Messages are bits in sets that only grow, so each may arrive never, late, twice, in any order. A LINK is one
 * connection: it fixes both incarnations and the epoch. r = A READ is the page k of attempt a, r = a*K + k. */
#ifndef A
#define A 1       /* attempts */
#endif
#ifndef K
#define K 1       /* pages of an attempt */
#endif
#ifndef G
#define G 1       /* groups that they are offered in: 1 or K */
#endif
#ifndef NP
#define NP 1      /* pages of the prefill node */
#endif
#ifndef ND
#define ND 1      /* pages of the decode node */
#endif
#ifndef GEN
#define GEN 2     /* lives of a page of the prefill node */
#endif
#ifndef CRASH
#define CRASH 0   /* crashes, of either node */
#endif
#ifndef LOSS
#define LOSS 0    /* links that a side gives up though both nodes live */
#endif
#ifndef OTHERS
#define OTHERS 1  /* unrelated sequences use pages that are free */
#endif
#ifndef SHARE
#define SHARE 0   /* 1: both attempts have one prompt, and share source pages */
#endif
#ifndef SERVE
#define SERVE 0   /* 1: the prefill node serves bytes itself (tcp); 0: one-sided reads (RDMA) */
#endif
#ifndef WRONG
#define WRONG 0   /* 1: the prefill node may offer pages of another prompt */
#endif
#ifndef LIVE
#define LIVE 0    /* 1: faults may end at any moment; then all pages must come home (I11) */
#endif
#ifndef GATEWAY_DIES
#define GATEWAY_DIES 0 /* 1: where faults end the gateway has ended too, and each node's own deadline has come */
#endif
#define NL (1 + CRASH + LOSS)
#define B(a) (1 << (a))
#define FULL (B(K) - 1)
#define GROUP(g) (G == 1 -> FULL : B(g))

/* contents of a page, ghost: its checksum and its chain hash at once */
#define FOREIGN 1
#define CONTENT(r) (2 + (SHARE -> (r) % K : (r)))
#define MISTAKEN 9
/* pages */
#define FREE 0
#define FILL 1        /* P: written by one sequence */
#define RES 2         /* P: sealed */
#define IMP 3         /* D: a read lands here, or will */
#define QUAR 4        /* D: a read may land here, of an import that has stopped */
#define RUN 5         /* D: read by the sequence that started */
#define OTHER 6       /* an unrelated sequence's */
typedef PPage { byte st; byte gen; byte body; byte exports /* set of attempts */ };
typedef DPage { byte st; byte own /* r */; byte body };
PPage pp[NP];  DPage dp[ND];

/* links; st of a side: */
#define NEW 0         /* has not heard of it */
#define UP 1
#define LOST 2        /* suspected: nothing is sent or read any more, nothing is freed */
#define FENCED 3      /* nothing of it can reach this side any more */
typedef Link { byte pinc; byte dinc; byte p; byte d; byte offers /* a*G+g */; byte revokes; byte releases };
Link link[NL];
byte cur, plink, dlink;          /* newest link; newest that each side knows */
byte pinc, dinc, crashes, losses;

/* the gateway's messages, sets of attempts, and what it told the client */
byte submits, cancels, rejects, ends;
#define WAIT 1
#define REJECTED 2
#define ENDED 3
#define CANCELLED 4
byte outcome[A], alink[A];       /* an attempt is for one link: Submit says which */

/* attempts at a node */
#define NONE 0
#define OPEN 1        /* P: all source pages reserved.  D: EXPECT, submitted, nothing reserved */
#define REVOKING 2    /* P: waits for Release */
#define IMPORT 3      /* D: all pages reserved, reads may be out */
#define DRAIN 4       /* D: no more reads; waits for those that are out */
#define CLOSED 5      /* the tombstone */
byte p_st[A], p_link[A], off[A]; /* off: groups offered */
byte d_st[A], d_link[A], offered[A], posted[A], accepted[A];  bool seal[A];
byte src[A*K], sgen[A*K], sum[A*K];  /* P's pages of an attempt: what Offers say */
byte dst[A*K];                       /* D's pages of an attempt */
bool out[A*K];  byte hdr[A*K], body[A*K];  /* a read, and its samples: hdr 1 as offered, 2 not; body 1 + content */

byte started, p_rejected, d_rejected, d_cancelled, ended;  /* ghosts: sets of attempts */
bool calm;
hidden byte i, j, k, n, x, y;
hidden byte I2, I3, I4, I5, I7, I8, I9, I11, I12;  /* never set: they name what an assertion is about */

#define ALIVE(a) (link[d_link[a]].dinc == dinc)          /* a read of this life of D */
#ifdef ZOMBIE                 /* a predecessor's process may still live when its successor says hello: its reads count */
#define COUNTS(a) true
#else
#define COUNTS(a) ALIVE(a)
#endif
#define SAMELIFE(a) (link[d_link[a]].pinc == pinc)
/* A dead life's memory may be the next one's at the same address: the reader cannot exclude it. */
#define REACH(a) (!SAMELIFE(a) || link[d_link[a]].p != FENCED)
#define EXPORTED(a,r) (pp[src[r]].st == RES && pp[src[r]].gen == sgen[r] && (pp[src[r]].exports & B(a)))
#ifdef BUG_NO_GENERATION
#define MAYREAD(a,r) (pp[src[r]].st == RES && pp[src[r]].exports)
#else
#define MAYREAD(a,r) (EXPORTED(a,r) && p_link[a] == d_link[a] && (p_st[a] == OPEN || p_st[a] == REVOKING))
#endif
#ifdef BUG_SUBMIT_NO_EPOCH    /* Submit names the incarnations alone */
#define FOR(a,l) (link[alink[a]].pinc == link[l].pinc && link[alink[a]].dinc == link[l].dinc)
#else
#define FOR(a,l) (alink[a] == l)
#endif
#ifdef KEEP_TOMBS             /* an attempt that a fence ended is remembered until the node restarts */
#define FORGOTTEN CLOSED
#else
#define FORGOTTEN NONE
#endif

/* ---- the prefill node ---- */

inline p_free(pg) {           /* I8: nobody who can still see the page counts on it */
	for (j : 0 .. A*K-1) {
		assert(I8 || !(out[j] && src[j] == pg && sgen[j] == pp[pg].gen && pp[pg].st == RES && (hdr[j] == 0 || body[j] == 0) && COUNTS(j/K) && SAMELIFE(j/K) && link[d_link[j/K]].p != FENCED))
	}
	pp[pg].st = FREE
}
inline p_drop(a) {            /* the attempt's readers and reservations end */
	for (k : 0 .. K-1) {
		i = src[a*K+k];
		if
		:: i < NP && pp[i].st == FILL && pp[i].gen == sgen[a*K+k] -> pp[i].st = FREE
		:: i < NP && pp[i].st == RES && (pp[i].exports & B(a)) ->
#ifdef BUG_ONE_COUNT
			pp[i].exports = 0;
#else
			pp[i].exports = pp[i].exports & ~B(a);
#endif
			if :: pp[i].exports == 0 -> p_free(i) :: else fi
		:: else
		fi
	}
}
inline p_reserve(a) {         /* all or none: y is 1 if all. A page that another attempt exports and that holds the same is pinned now */
	y = 1;
	for (k : 0 .. K-1) { src[a*K+k] = NP }
	for (k : 0 .. K-1) {
		n = NP;
		for (i : 0 .. NP-1) {
			if
			:: SHARE && pp[i].st == RES && pp[i].exports && pp[i].body == CONTENT(a*K+k) -> n = i; break
			:: else -> if :: pp[i].st == FREE && pp[i].gen < GEN && n == NP -> n = i :: else fi
			fi
		}
		if
		:: n == NP -> y = 0
		:: n < NP && pp[n].st == RES -> pp[n].exports = pp[n].exports | B(a); src[a*K+k] = n; sgen[a*K+k] = pp[n].gen
		:: n < NP && pp[n].st == FREE -> pp[n].st = FILL; pp[n].gen++; src[a*K+k] = n; sgen[a*K+k] = pp[n].gen
		fi
	}
	if :: y == 0 -> p_drop(a) :: else fi
}
inline p_offer(a, mistaken) { /* seal the next group and send it */
	assert(I12 || !(p_rejected & B(a)));  /* no message after a rejection */
	for (k : 0 .. K-1) {
		i = src[a*K+k];
		if
		:: (GROUP(off[a]) & B(k)) && pp[i].st == FILL ->
			assert(I2 || pp[i].exports == 0);  /* what can be written has no reader */
			pp[i].st = RES; pp[i].body = (mistaken -> MISTAKEN : CONTENT(a*K+k)); pp[i].exports = B(a)
		:: else
		fi;
		if :: GROUP(off[a]) & B(k) -> sum[a*K+k] = pp[i].body :: else fi
	}
	link[p_link[a]].offers = link[p_link[a]].offers | B(a*G + off[a]);
	off[a]++
}
inline p_revoke(a) {
	if
	:: off[a] == 0 -> p_drop(a); p_st[a] = CLOSED
	:: else ->
		p_st[a] = REVOKING; link[p_link[a]].revokes = link[p_link[a]].revokes | B(a);
#ifdef BUG_FREE_ON_REVOKE
		p_drop(a)
#endif
	fi
}
#ifdef BUG_NO_DEADLINE_P      /* a request's end is the gateway's to tell */
#define P_DEADLINE false
#else
#define P_DEADLINE GATEWAY_DIES
#endif
#define P_UP(a) (link[p_link[a]].p == UP)
#define P_HOLDS(a) (p_st[a] == OPEN || p_st[a] == REVOKING)

proctype Prefill(byte a) {
end:	do
	:: d_step { (submits & B(a)) && p_st[a] == NONE && FOR(a, plink) && link[plink].p == UP ->      /* Submit */
		p_link[a] = plink; off[a] = 0;
		p_reserve(a);
		if
		:: y -> p_st[a] = OPEN
		:: else -> p_st[a] = CLOSED; p_rejected = p_rejected | B(a); rejects = rejects | B(a);
#ifdef BUG_OFFER_REJECTED
			src[a*K] = 0; p_offer(a, true)
#endif
		fi; skip }
	:: d_step { (cancels & B(a)) && (p_st[a] == NONE || p_st[a] == OPEN) ->                           /* Cancel, also before Submit */
		if :: p_st[a] == NONE -> p_st[a] = CLOSED; p_link[a] = alink[a] :: else -> p_revoke(a) fi; skip }
	:: d_step { p_st[a] == OPEN && off[a] < G && P_UP(a) -> p_offer(a, false); skip }
#if WRONG
	:: d_step { p_st[a] == OPEN && off[a] < G && P_UP(a) -> p_offer(a, true); skip }
#endif
	:: d_step { p_st[a] == OPEN && P_UP(a) && (!calm || P_DEADLINE) -> p_revoke(a); skip }                                  /* a timer may do this, no more */
	:: d_step { P_HOLDS(a) && link[p_link[a]].p != FENCED && (link[p_link[a]].releases & B(a)) -> p_drop(a); p_st[a] = CLOSED } /* Release */
#ifdef BUG_RELEASE_ANY_LINK
	:: d_step { P_HOLDS(a) && ((link[0].releases | link[NL-1].releases) & B(a)) -> p_drop(a); p_st[a] = CLOSED }
#endif
#ifdef BUG_TIMER_FREES
	:: d_step { P_HOLDS(a) && off[a] -> p_drop(a); p_st[a] = CLOSED }
#endif
#if LIVE                      /* what was lost is sent again, as long as the sender's state says so */
	:: d_step { calm && p_st[a] == OPEN && P_UP(a) && (link[p_link[a]].offers >> (a*G) & (B(off[a]) - 1)) != B(off[a]) - 1 ->
		link[p_link[a]].offers = link[p_link[a]].offers | ((B(off[a]) - 1) << (a*G)) }
#ifndef BUG_NO_RESEND
	:: d_step { calm && p_st[a] == REVOKING && P_UP(a) && !(link[p_link[a]].revokes & B(a)) -> link[p_link[a]].revokes = link[p_link[a]].revokes | B(a) }
#endif
#endif
	od
}

/* ---- the decode node ---- */

#define OUT(a) (out[(a)*K] || out[(a)*K+K-1])
inline d_free(pg) {
	for (j : 0 .. A*K-1) { assert(I8 || !(out[j] && ALIVE(j/K) && dst[j] == pg)) } /* no read can land in what is freed */
	dp[pg].st = FREE
}
inline d_release(a, l) {
	assert(I7 || !(OUT(a) && d_link[a] == l));  /* none is out */
	if :: link[l].d == UP -> link[l].releases = link[l].releases | B(a) :: else fi
}
inline d_close(a) {
	d_release(a, d_link[a]);
#ifdef BUG_NO_TOMBSTONE
	d_st[a] = NONE
#else
	d_st[a] = CLOSED
#endif
}
inline d_stop(a) {            /* no more reads; pages with one out wait for it */
	if
	:: d_st[a] == IMPORT ->
		d_st[a] = DRAIN;
		for (k : 0 .. K-1) {
			i = dst[a*K+k];
#ifdef BUG_FREE_ON_CANCEL
			d_free(i)
#else
			if :: out[a*K+k] -> dp[i].st = QUAR :: else -> d_free(i) fi
#endif
		}
	:: else
	fi;
	if :: d_st[a] == OPEN || (d_st[a] == DRAIN && !OUT(a)) -> d_close(a) :: else fi
}
inline d_start(a) {
	assert(I9 || !(started & B(a)));                                   /* once */
	assert(I9 || (accepted[a] == FULL && seal[a]));                    /* every page of the seal */
	assert(I12 || !((d_rejected | d_cancelled) & B(a)));               /* not after another end */
	for (k : 0 .. K-1) {
		i = dst[a*K+k];
		assert(I2 || (dp[i].st == IMP && dp[i].own == a*K+k && !out[a*K+k])); /* what is read has no writer */
		assert(I5 || dp[i].body == CONTENT(a*K+k));
		dp[i].st = RUN
	}
	started = started | B(a);
	d_close(a)
}
#ifdef BUG_SEAL_GAP
#define COMPLETE(a) (seal[a] && accepted[a] == offered[a])
#else
#define COMPLETE(a) (seal[a] && accepted[a] == FULL)
#endif
#ifdef BUG_NO_CHECKSUM
#define SUM_OK(r) true
#else
#define SUM_OK(r) (body[r] == 1 + sum[r])
#endif
#ifdef BUG_NO_HEADER
#define HDR_OK(r) true
#else
#define HDR_OK(r) (hdr[r] == 1)
#endif
#ifdef BUG_NO_CHAIN
#define CHAIN_OK(r) true
#else
#define CHAIN_OK(r) (sum[r] == CONTENT(r))
#endif
inline d_offer(a, g) {
	if
	:: d_st[a] == OPEN ->     /* the first: pages for all of the prompt, or none and refuse */
		n = 0;
		for (i : 0 .. ND-1) { n = n + (dp[i].st == FREE) }
		if
		:: n < K -> d_rejected = d_rejected | B(a); rejects = rejects | B(a); d_close(a)
		:: else ->
			d_st[a] = IMPORT; offered[a] = 0; posted[a] = 0; accepted[a] = 0; seal[a] = 0;
			k = 0;
			for (i : 0 .. ND-1) { if :: k < K && dp[i].st == FREE -> dp[i].st = IMP; dp[i].own = a*K+k; dst[a*K+k] = i; k++ :: else fi }
		fi
	:: d_st[a] == CLOSED ->
		d_release(a, dlink)
	:: else
	fi;
	if
	:: d_st[a] == IMPORT ->
		offered[a] = offered[a] | GROUP(g);
		if :: g == G-1 -> seal[a] = 1 :: else fi;
		y = 1;
		for (k : 0 .. K-1) { if :: (GROUP(g) & B(k)) && !CHAIN_OK(a*K+k) -> y = 0 :: else fi }
		if :: !y -> d_stop(a) :: else fi
	:: else
	fi
}
/* an Offer that would change something */
#ifdef BUG_SILENT_TOMBSTONE
#define ANSWERS(a) false
#else
#define ANSWERS(a) (d_st[a] == CLOSED && !(link[dlink].releases & B(a)))
#endif
#define NEWS(a,g) (d_st[a] == OPEN || (d_st[a] == IMPORT && (offered[a] & GROUP(g)) != GROUP(g)) || ANSWERS(a))
#define D_HEARS(a) (link[dlink].d == UP && (d_st[a] == NONE || d_link[a] == dlink))

proctype Decode(byte a) {
end:	do
	:: d_step { (submits & B(a)) && d_st[a] == NONE && FOR(a, dlink) && link[dlink].d == UP -> d_st[a] = OPEN; d_link[a] = dlink } /* Submit */
	:: d_step { (cancels & B(a)) && (d_st[a] == NONE || d_st[a] == OPEN || d_st[a] == IMPORT) ->         /* Cancel, also before Submit */
		d_cancelled = d_cancelled | B(a);
		if
		:: d_st[a] == NONE ->
			d_st[a] = CLOSED;
#ifdef BUG_CANCEL_OF_OLD_LINK /* the tombstone goes with the link of the day, not with the attempt's */
			d_link[a] = dlink
#else
			d_link[a] = alink[a]
#endif
		:: else -> d_stop(a)
		fi; skip }
	:: d_step { D_HEARS(a) && (link[dlink].offers & B(a*G)) && NEWS(a, 0) -> d_offer(a, 0); skip }            /* Offer */
#if G == 2
	:: d_step { D_HEARS(a) && (link[dlink].offers & B(a*G+1)) && NEWS(a, 1) -> d_offer(a, 1); skip }
#endif
	:: d_step { D_HEARS(a) && (link[dlink].revokes & B(a)) && d_st[a] != DRAIN && !(d_st[a] == CLOSED && (link[dlink].releases & B(a))) -> /* Revoke */
		if
		:: d_st[a] == NONE -> d_link[a] = dlink; d_cancelled = d_cancelled | B(a); d_close(a)
		:: d_st[a] == CLOSED -> d_release(a, dlink)
		:: else ->
#ifdef BUG_RELEASE_ON_REVOKE
			d_release(a, dlink);
#endif
			d_cancelled = d_cancelled | B(a); d_stop(a)
		fi; skip }
#ifdef BUG_VOUCH              /* a new life answers for a dead one */
	:: d_step { link[0].dinc != dinc && (link[0].offers & B(a*G)) && !(link[0].releases & B(a)) ->
		assert(I7 || !(OUT(a) && d_link[a] == 0));
		link[0].releases = link[0].releases | B(a) }
#endif
#ifndef BUG_NO_DEADLINE_D     /* nothing is reserved yet, so a timer may end the wait for an Offer */
	:: d_step { GATEWAY_DIES && calm && d_st[a] == OPEN -> d_stop(a); skip }
#endif
	/* the sequence ends; what it read was its own all along */
	:: d_step { (started & B(a)) && !(ended & B(a)) && dp[dst[a*K]].st == RUN ->
		ended = ended | B(a); ends = ends | B(a);
		for (i : 0 .. ND-1) {
			if :: dp[i].st == RUN && dp[i].own / K == a -> assert(I5 || dp[i].body == CONTENT(dp[i].own)); d_free(i) :: else fi
		}; skip }
	od
}

/* ---- one read by the decode node, of page k of attempt a: posted, sampled twice, landed ---- */

inline completed(a, r, ok) {  /* D learns that the read is over */
	if
	:: d_st[a] == DRAIN ->
		d_free(dst[r]);
		if :: !OUT(a) -> d_close(a) :: else fi
	:: d_st[a] == IMPORT && (ok) ->
		accepted[a] = accepted[a] | B((r) % K);
		if :: COMPLETE(a) -> d_start(a) :: else fi
	:: d_st[a] == IMPORT && !(ok) -> d_stop(a)
	:: else
	fi
}
proctype Read(byte a, r) {
end:	do
	:: d_step { d_st[a] == IMPORT && (offered[a] & ~posted[a] & B(r % K)) && link[d_link[a]].d == UP ->
		assert(I7 || !(link[d_link[a]].releases & B(a)));                               /* none to come */
		assert(I8 || !(SAMELIFE(a) && link[d_link[a]].p != FENCED) || EXPORTED(a, r));  /* at P */
		posted[a] = posted[a] | B(r % K); out[r] = 1; hdr[r] = 0; body[r] = 0;
#ifdef BUG_RELEASE_EARLY
		if :: posted[a] == FULL -> d_release(a, d_link[a]) :: else fi
#endif
		skip }
	:: d_step { out[r] && hdr[r] == 0 && REACH(a) && (!SERVE || MAYREAD(a, r)) ->
		assert(I8 || !(COUNTS(a) && SAMELIFE(a)) || EXPORTED(a, r));                    /* at P */
		hdr[r] = 2 - (SAMELIFE(a) && pp[src[r]].gen == sgen[r] && pp[src[r]].st == RES) }
	:: d_step { out[r] && body[r] == 0 && REACH(a) && (!SERVE || MAYREAD(a, r)) ->
		assert(I8 || !(COUNTS(a) && SAMELIFE(a)) || EXPORTED(a, r));                    /* at P */
		assert(I5 || !SERVE || pp[src[r]].body == sum[r]);                             /* no foreign bytes are served */
		body[r] = 1 + pp[src[r]].body }
	:: d_step { out[r] && hdr[r] && body[r] ->                                        /* it lands */
		out[r] = 0;
		if
#ifdef BUG_OLD_SLAB           /* the next life takes the same memory */
		:: !ALIVE(a) -> assert(I4 || ((dp[dst[r]].st == IMP || dp[dst[r]].st == QUAR) && dp[dst[r]].own == r))
#endif
		:: ALIVE(a) ->
			assert(I4 || ((dp[dst[r]].st == IMP || dp[dst[r]].st == QUAR) && dp[dst[r]].own == r));
			dp[dst[r]].body = body[r] - 1;
			completed(a, r, HDR_OK(r) && SUM_OK(r))
		:: else               /* the life that asked is dead and its memory with it */
		fi;
		hdr[r] = 0; body[r] = 0 }
	:: d_step { out[r] && (!calm || !REACH(a) || !ALIVE(a) || (SERVE && !MAYREAD(a, r))) ->              /* it will never land */
		out[r] = 0; hdr[r] = 0; body[r] = 0;
		if :: ALIVE(a) -> completed(a, r, false) :: else fi; skip }
#ifdef BUG_ERROR_IS_DRAIN     /* an error or a timeout, and the read is still out */
	:: d_step { out[r] && ALIVE(a) && d_st[a] == IMPORT -> completed(a, r, false); d_free(dst[r]); skip }
#endif
	od
}

/* ---- connections and crashes ---- */

inline p_fence(l) {           /* P's fence is complete: nobody can read over the link. Its attempts and tombstones are forgotten */
	link[l].p = FENCED;
	for (y : 0 .. A-1) {
		if :: p_link[y] == l && P_HOLDS(y) -> p_drop(y); p_st[y] = CLOSED :: else fi;
		if :: p_link[y] == l && p_st[y] == CLOSED -> p_st[y] = FORGOTTEN :: else fi
	}
}
inline d_fence(l) {           /* D's: no read of the link can land any more */
	link[l].d = FENCED;
	for (y : 0 .. A-1) {
		if
		:: d_link[y] == l ->
			for (k : 0 .. K-1) { out[y*K+k] = 0; hdr[y*K+k] = 0; body[y*K+k] = 0 }
			for (i : 0 .. ND-1) { if :: d_st[y] == DRAIN && dp[i].st == QUAR && dp[i].own / K == y -> d_free(i) :: else fi }
			if :: d_st[y] == DRAIN || d_st[y] == CLOSED -> d_st[y] = FORGOTTEN :: else fi
		:: else
		fi
	}
}

proctype Nodes() {
end:	do
	/* a new connection, where a side has left the old one */
	:: d_step { cur < NL-1 && (link[cur].p >= LOST || link[cur].d >= LOST) -> cur++; link[cur].pinc = pinc; link[cur].dinc = dinc }
	:: d_step { plink < cur && link[cur].p == NEW ->                                   /* P: connected */
		plink = cur;
		for (x : 0 .. NL-2) {
			if :: x < cur && (link[x].p == UP || link[x].p == LOST) ->
				link[x].p = LOST;
#ifndef FENCE_ON_RESTART
				for (y : 0 .. A-1) {  /* proof that D restarted: its predecessor's readers are dropped */
					if :: link[x].dinc != link[cur].dinc && P_HOLDS(y) && p_link[y] == x -> p_drop(y); p_st[y] = CLOSED :: else fi
				}
#endif
			:: else fi
		}
		link[cur].p = UP }
	:: d_step { dlink < cur && link[cur].d == NEW ->                                   /* D: connected */
		for (y : 0 .. A-1) {
			if :: link[d_link[y]].d == UP && d_link[y] < cur ->
#ifdef BUG_RECONNECT          /* an attempt lives on over the next connection */
				d_link[y] = cur
#else
				link[d_link[y]].d = LOST;
				if :: d_st[y] == OPEN || d_st[y] == IMPORT -> d_stop(y) :: else fi
#endif
			:: else fi
		}
		if :: link[dlink].d == UP -> link[dlink].d = LOST :: else fi;
		dlink = cur; link[cur].d = UP }
	/* suspected: by a timer, or because the other side has gone */
	:: d_step { link[plink].p == UP && (!calm && losses < LOSS && link[plink].d == UP || link[plink].d >= LOST) ->
		losses = losses + (link[plink].d < LOST); link[plink].p = LOST;
#ifdef BUG_NO_FENCE_P
		for (y : 0 .. A-1) { if :: P_HOLDS(y) && p_link[y] == plink -> p_drop(y); p_st[y] = CLOSED :: else fi }
#endif
		skip }
	:: d_step { link[dlink].d == UP && (!calm && losses < LOSS && link[dlink].p == UP || link[dlink].p >= LOST) ->
		losses = losses + (link[dlink].p < LOST); link[dlink].d = LOST;
		for (y : 0 .. A-1) {
			if :: d_link[y] == dlink && (d_st[y] == OPEN || d_st[y] == IMPORT) ->
				d_stop(y);
#ifdef BUG_NO_FENCE_D
				for (i : 0 .. ND-1) { if :: dp[i].st == QUAR && dp[i].own / K == y -> d_free(i) :: else fi }
#endif
			:: else fi
		}; skip }
	/* fences complete */
#if NL > 1
	:: d_step { link[0].p == LOST -> p_fence(0); skip }
	:: d_step { link[0].d == LOST -> d_fence(0); skip }
	:: d_step { link[1].p == LOST -> p_fence(1); skip }
	:: d_step { link[1].d == LOST -> d_fence(1); skip }
#endif
#if NL > 2
	:: d_step { link[2].p == LOST -> p_fence(2); skip }
	:: d_step { link[2].d == LOST -> d_fence(2); skip }
#endif
#if CRASH                     /* amnesia, and a new incarnation */
	:: d_step { !calm && crashes < CRASH ->
		crashes++; pinc++;
		for (i : 0 .. NP-1) { pp[i].st = FREE; pp[i].gen = 0; pp[i].body = 0; pp[i].exports = 0 }
		for (x : 0 .. A-1) { p_st[x] = NONE; p_link[x] = 0; off[x] = 0 }
		for (x : 0 .. NL-1) { if :: x <= cur -> link[x].p = FENCED :: else fi }; skip }
	:: d_step { !calm && crashes < CRASH ->
		crashes++; dinc++;
		for (i : 0 .. ND-1) { dp[i].st = FREE; dp[i].own = 0; dp[i].body = 0 }
		for (x : 0 .. A-1) { d_st[x] = NONE; offered[x] = 0; posted[x] = 0; accepted[x] = 0; seal[x] = 0 }
		ended = ended | started; d_cancelled = 0;
		for (x : 0 .. NL-1) { if :: x <= cur -> link[x].d = FENCED :: else fi }; skip }
#endif
	od
}

/* ---- the gateway, the unrelated, and the end ---- */

inline ends_with(a, how) { assert(I12 || outcome[a] == WAIT); outcome[a] = how }  /* one outcome */

#define GATEWAY (!calm || !GATEWAY_DIES)
proctype Gateway(byte a) {
end:	do
	:: d_step { outcome[a] == 0 && !calm && (a == 0 || outcome[a-1]) -> outcome[a] = WAIT; alink[a] = cur; submits = submits | B(a) }
	:: d_step { outcome[a] == WAIT && (rejects & B(a)) -> ends_with(a, REJECTED); cancels = cancels | B(a) }
	:: d_step { outcome[a] == WAIT && (ends & B(a)) -> ends_with(a, ENDED) }
	:: d_step { outcome[a] == WAIT && GATEWAY -> ends_with(a, CANCELLED); cancels = cancels | B(a) }   /* the client has gone, or the deadline is past */
#ifdef BUG_LAST_WINS
	:: d_step { outcome[a] == CANCELLED && (ends & B(a)) -> ends_with(a, ENDED) }
#endif
#if LIVE
	:: d_step { calm && GATEWAY && outcome[a] == WAIT && !(submits & B(a)) -> submits = submits | B(a) }
	:: d_step { calm && GATEWAY && (outcome[a] == CANCELLED || outcome[a] == REJECTED) && !(cancels & B(a)) -> cancels = cancels | B(a) }
#endif
	od
}
proctype POther(byte pg) {
end:	do
	:: d_step { !calm && pp[pg].st == FREE && pp[pg].gen < GEN -> pp[pg].st = OTHER; pp[pg].gen++; pp[pg].body = FOREIGN }
	:: d_step { pp[pg].st == OTHER -> assert(I3 || pp[pg].body == FOREIGN); pp[pg].st = FREE }
	od
}
proctype DOther(byte pg) {
end:	do
	:: d_step { !calm && dp[pg].st == FREE -> dp[pg].st = OTHER; dp[pg].body = FOREIGN }
	:: d_step { dp[pg].st == OTHER -> assert(I3 || dp[pg].body == FOREIGN); d_free(pg); skip }
	od
}
#if LIVE                      /* I11: all messages are lost, then no more faults: every run must end with all pages home */
proctype Calm() {
end:	d_step { !calm ->
		calm = 1; submits = 0; cancels = 0; rejects = 0; ends = 0;
		for (x : 0 .. NL-1) { link[x].offers = 0; link[x].revokes = 0; link[x].releases = 0 }; skip };
	timeout -> d_step {
		for (i : 0 .. NP-1) { assert(I11 || pp[i].st == FREE) }
		for (i : 0 .. ND-1) { assert(I11 || dp[i].st == FREE) }
		for (x : 0 .. A-1) { assert(GATEWAY_DIES || I12 || outcome[x] != WAIT); assert(I11 || d_st[x] != OPEN) }; skip }
}
#endif
#ifdef LTL                    /* the same, and no run of the calm goes in circles */
ltl home { [] (calm -> <> [] (pp[0].st == FREE && pp[NP-1].st == FREE && dp[0].st == FREE && dp[ND-1].st == FREE)) }
#endif

init {
	d_step { link[0].p = UP; link[0].d = UP };
	atomic {
		byte a = 0;
		do
		:: a < A -> run Gateway(a); run Prefill(a); run Decode(a); run Read(a, a*K); if :: K == 2 -> run Read(a, a*K+1) :: else fi; a++
		:: else -> break
		od;
		run Nodes();
#if OTHERS
		a = 0; do :: a < NP -> run POther(a); a++ :: else -> break od;
		a = 0; do :: a < ND -> run DOther(a); a++ :: else -> break od;
#endif
		a = 0;
#if LIVE
		run Calm()
#endif
	}
}
