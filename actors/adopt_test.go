package actors

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kvasir-engine/kvasir/gpu/host"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model/sample"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// exported is a prompt as a node that computed it can offer it.
type exported struct {
	refs      []page.Ref
	bytes     [][]byte // of each page
	checksums []uint32
	tokens    int
	first     sample.Result
	steps     int // in which something could be offered
}

// export has a new node compute a prompt for another, in chunks of so many tokens, among stale bytes.
func export(t *testing.T, spec Spec, chunk int) (x exported) {
	var l *lab
	told := map[page.Ref]kvpool.Seal{}
	l = newLab(t, func(role string, m any) any {
		switch m := m.(type) {
		case *kvpool.Event:
			for _, s := range m.Seals {
				told[s.Ref] = s
			}
		case *stepDone: // nothing is released before the scheduler has it
			for _, p := range m.prefixes {
				x.steps++
				l.checkPrefix(p, spec.Prompt, x.tokens)
				x.tokens = p.tokens
				if p.last {
					x.refs, x.first = p.pages, p.first
					for _, ref := range p.pages {
						x.bytes = append(x.bytes, bytes.Clone(l.page(ref)))
					}
				}
			}
		}
		return m
	}, func(c *Config) { c.Sched.MaxPrefillChunk = chunk })
	stale := host.Bytes(l.slab.Data)
	for i := range stale {
		stale[i] = 0x5a
	}
	spec.MaxTokens = 1
	s, err := l.registry.open(l.drop, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.tell(l.scheduler, &submit{node: l.Node, spec: spec, stream: s, export: true})
	if got, end, err := l.collect(s); err != nil || end != sched.EndLength || !slices.Equal(got, []int32{x.first.ID}) {
		t.Fatalf("the prompt's answer is %v %v %v, and %d was told", got, end, err, x.first.ID)
	}
	l.home()
	for i, ref := range x.refs { // home has asked the pool, which has seen them all
		s, end := told[ref], min(len(spec.Prompt), (i+1)*l.layout.PageSize)
		chain := l.chain(spec.Tenant)
		chain.Add(spec.Prompt[:end])
		want := kvpool.Seal{Ref: ref, Seq: s.Seq, Domain: l.domain(spec.Tenant), Chain: chain.Sum(), Checksum: crc32.Checksum(x.bytes[i], crc32.MakeTable(crc32.Castagnoli)), Full: end == (i+1)*l.layout.PageSize}
		if s != want {
			t.Errorf("page %d was sealed as %+v, want %+v", i, s, want)
		}
		x.checksums = append(x.checksums, s.Checksum)
	}
	return x
}

// page is the bytes of a page.
func (l *lab) page(ref page.Ref) []byte {
	size := l.layout.PageBytes()
	return host.Bytes(l.slab.Data)[int(ref.Page)*size:][:size]
}

// checkPrefix holds what the runner says can be offered against the prompt and the device; before is how many tokens could be offered before.
func (l *lab) checkPrefix(p prefix, prompt []int32, before int) {
	size := l.layout.PageSize
	if p.tokens < before || p.last != (p.tokens == len(prompt)) || len(p.pages) != (p.tokens+size-1)/size || !p.last && p.tokens%size != 0 {
		l.t.Errorf("%d pages with %d of %d tokens can be offered, after %d; last: %v", len(p.pages), p.tokens, len(prompt), before, p.last)
	}
	for i, ref := range p.pages {
		h, fill := l.dev.ReadHeader(l.slab, ref.Page), min(size, p.tokens-i*size)
		if !h.Sealed || h.Generation != ref.Generation || int(h.Fill) != fill || h.Checksum != l.dev.Checksum(l.slab, ref.Page) {
			l.t.Errorf("page %d of %d tokens has the header %+v", i, fill, h)
		}
		for j, b := range l.page(ref) {
			if slot := j / (l.layout.HeadDim * l.layout.ElemBytes()) % size; slot >= fill && b != 0 {
				l.t.Errorf("page %d travels with a stale byte in slot %d of %d", i, slot, fill)
				return
			}
		}
	}
}

// A prompt that another node is to have is offered page by page, the last one sealed though it may not be full and without a stale byte.
func TestExportSealsTheWholePrompt(t *testing.T) {
	for _, c := range []struct{ prompt, chunk, pages, steps int }{{40, 0, 3, 1}, {48, 0, 3, 1}, {70, 24, 5, 3}, {5, 0, 1, 1}} {
		spec := Spec{Tenant: "default", Prompt: prompt(1, c.prompt), Choices: 1}
		x := export(t, spec, c.chunk)
		if len(x.refs) != c.pages || x.tokens != c.prompt || x.steps != c.steps {
			t.Errorf("a prompt of %d in chunks of %d: %d pages, %d tokens, in %d steps", c.prompt, c.chunk, len(x.refs), x.tokens, x.steps)
		}
		if want := alone(t, spec.Prompt, 1); x.first.ID != want[0] {
			t.Errorf("the answer begins with %d, want %d", x.first.ID, want[0])
		}
	}
}

// importer is a node that takes prompts over as the hand-off does: pages of its own with the other node's bytes, owned by a sequence, and one to spare where the last is full.
type importer struct {
	*lab
	granted chan []page.Ref
}

// importJob marks the importer's own EvAllot; the ledger does not look at it.
const importJob = 1 << 40

func newImporter(t *testing.T, change ...func(*Config)) *importer {
	im := &importer{granted: make(chan []page.Ref, 1)}
	asked := make(chan bool, 4096) // whose each EvAllot was, in their order, which is that of the answers
	im.lab = newLab(t, func(role string, m any) any {
		switch m := m.(type) {
		case *kvpool.Event:
			if m.Kind == kvpool.EvAllot {
				asked <- m.Job == importJob
			}
		case *allotted:
			if <-asked {
				im.granted <- m.refs
				return pagesFreed{}
			}
		}
		return m
	}, change...)
	return im
}

// adopt has a prompt arrive, with the pages changed by spoil, and the answer go on.
func (im *importer) adopt(spec Spec, x exported, spoil func(*adopt)) *Stream {
	im.t.Helper()
	s, err := im.registry.open(im.drop, 1)
	if err != nil {
		im.t.Fatal(err)
	}
	need, size := len(x.refs), im.layout.PageSize
	if x.tokens%size == 0 {
		need++
	}
	im.tellPool(kvpool.Event{Kind: kvpool.EvAllot, N: need, Job: importJob})
	refs := <-im.granted
	m := &adopt{spec: spec, stream: s, first: x.first.ID, refs: refs[:len(x.refs)]}
	if need > len(x.refs) {
		m.spare = refs[need-1]
	}
	trail := newTrail(im.chain(spec.Tenant), size, spec.Prompt)
	var spends []page.Spend
	var seals []kvpool.Seal
	for i, ref := range m.refs {
		copy(im.page(ref), x.bytes[i])
		spends = append(spends, page.Spend{Ref: ref, Seq: s.seqs[0]})
		if (i+1)*size <= x.tokens {
			seals = append(seals, kvpool.Seal{Ref: ref, Seq: s.seqs[0], Domain: im.domain(spec.Tenant), Chain: trail.hashes[i+1], Checksum: x.checksums[i], Full: true})
		}
	}
	im.tellPool(kvpool.Event{Kind: kvpool.EvSpend, Spends: spends})
	im.tellPool(kvpool.Event{Kind: kvpool.EvSeal, Seals: seals})
	stamped := &stamp{}
	for _, s := range seals {
		stamped.pages = append(stamped.pages, kvpool.Check{Ref: s.Ref, Domain: s.Domain, Chain: s.Chain, Checksum: s.Checksum})
	}
	im.tell(im.runner, stamped)
	if spoil != nil {
		spoil(m)
	}
	im.tell(im.scheduler, m)
	return s
}

// An answer that begins at one node and goes on at another is the one that a single node gives.
func TestAdoptedAnswersAreIdentical(t *testing.T) {
	for name, spec := range map[string]Spec{
		"last page has room":     {Prompt: prompt(1, 40)},
		"last page is full":      {Prompt: prompt(2, 48)},
		"less than a page":       {Prompt: prompt(3, 9)},
		"drawn":                  {Prompt: prompt(4, 40), Seed: 7, Sampling: request.Sampling{Temperature: 1.5}},
		"the first token counts": {Prompt: prompt(4, 40), Sampling: request.Sampling{FrequencyPenalty: 2, LogitBias: map[int32]float32{300: 40}}},
	} {
		t.Run(name, func(t *testing.T) {
			spec.Tenant, spec.Choices, spec.MaxTokens = "default", 1, 60
			one := newLab(t, nil)
			s, err := one.Submit(spec)
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := one.collect(s)
			if err != nil {
				t.Fatal(err)
			}
			x := export(t, spec, 0)
			im := newImporter(t)
			got, end, err := im.collect(im.adopt(spec, x, nil))
			if got = append([]int32{x.first.ID}, got...); err != nil || end != sched.EndLength || !slices.Equal(got, want) {
				t.Errorf("%v %v\n got %v\nwant %v", end, err, got, want)
			}
			if n := im.failures("header") + im.failures("bytes"); n != 0 {
				t.Errorf("%v checks failed", n)
			}
			im.home()
			// Its full pages are found by the next request with that prompt, and verified.
			again, err := im.Submit(spec)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := im.collect(again); err != nil || !slices.Equal(got, want) || again.Cached() != (len(spec.Prompt)-1)/16*16 {
				t.Errorf("asked again: %v, %d cached\n got %v\nwant %v", err, again.Cached(), got, want)
			}
			im.home()
		})
	}
}

// An adopted sequence that must give way is computed again from its tokens, the first of the answer among them.
func TestAdoptedSequencesGiveWay(t *testing.T) {
	spec := Spec{Tenant: "default", Prompt: prompt(1, 40), Choices: 1, MaxTokens: 100}
	want := alone(t, spec.Prompt, 100)
	x := export(t, spec, 0)
	im := newImporter(t, func(c *Config) { c.Sched.TotalPages, c.Sched.MaxModelLen = 14, 224 })
	first := im.submit(prompt(9, 40), 150)
	if _, _, err := first.Next(context.Background()); err != nil { // it runs, and never gives way
		t.Fatal(err)
	}
	s := im.adopt(spec, x, nil)
	got, _, err := im.collect(s)
	if got = append([]int32{x.first.ID}, got...); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n got %v\nwant %v", err, got, want)
	}
	if _, _, err := im.collect(first); err != nil {
		t.Error(err)
	}
	if testutil.ToFloat64(im.metrics.preemptions) == 0 {
		t.Error("nobody gave way")
	}
	im.home()
}

// A reference that is a replay stamps nothing: its owner keeps the page, and the adopted sequence ends with an error.
func TestAReplayedImportDoesNotTakeThePage(t *testing.T) {
	spec := Spec{Tenant: "default", Prompt: prompt(1, 40), Choices: 1, MaxTokens: 30}
	x := export(t, spec, 0)
	for name, spoil := range map[string]func(*importer, *adopt){
		"an older life":         func(_ *importer, m *adopt) { m.refs[1].Generation-- },
		"another incarnation":   func(_ *importer, m *adopt) { m.refs[1].Incarnation++ },
		"beyond the slab":       func(im *importer, m *adopt) { m.refs[1].Page = page.Index(im.slab.Pages) },
		"twice the same":        func(_ *importer, m *adopt) { m.refs[1] = m.refs[0] },
		"two pages in exchange": func(_ *importer, m *adopt) { m.refs[2], m.spare = m.refs[0], page.Ref{} },
	} {
		t.Run(name, func(t *testing.T) {
			im := newImporter(t)
			s := im.adopt(spec, x, func(m *adopt) {
				m.refs = slices.Clone(m.refs)
				spoil(im, m)
			})
			if got, _, err := im.collect(s); !errors.Is(err, request.ErrPageCheck) || len(got) != 0 {
				t.Errorf("%d tokens, %v; want none and ErrPageCheck", len(got), err)
			}
			im.home()
		})
	}
}
