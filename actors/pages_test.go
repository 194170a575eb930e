package actors

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/gpu/host"
	"github.com/kvasir-engine/kvasir/kvpool"
	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/model"
	"github.com/kvasir-engine/kvasir/model/builtin"
	"github.com/kvasir-engine/kvasir/model/gguf"
	"github.com/kvasir-engine/kvasir/request"
	"github.com/kvasir-engine/kvasir/sched"
)

// swap lets two pages change places on the device, bytes and headers.
func (l *lab) swap(a, b page.Index) {
	tmp := page.Index(l.slab.Pages - 1) // never in use in these tests
	l.dev.CopyPage(l.slab, tmp, a)
	l.dev.CopyPage(l.slab, a, b)
	l.dev.CopyPage(l.slab, b, tmp)
	ha, hb := l.dev.ReadHeader(l.slab, a), l.dev.ReadHeader(l.slab, b)
	l.dev.WriteHeader(l.slab, a, hb)
	l.dev.WriteHeader(l.slab, b, ha)
}

// eachItem shows every item of every batch on its way to the runner.
func eachItem(see func(*sched.Item)) tamper {
	return func(role string, m any) any {
		if r, ok := m.(*run); ok && role == "runner" {
			for i := range r.batch.Items {
				see(&r.batch.Items[i])
			}
		}
		return m
	}
}

// Two requests run side by side; behind the engine's back two pages of one of them change places, or an old reference to a page takes the place of the
// right one. That request ends with an error and not one token more; the other's answer is the one it gets alone.
func TestAForeignPageEndsItsRequestOnly(t *testing.T) {
	const victim, other, before = 1, 2, 4 // seeds of the prompts; tokens that the victim may get first
	cases := []struct {
		name string
		// spoil changes the victim's item of a batch, or the device. old is a reference to a life of a page that is over.
		spoil func(l *lab, it *sched.Item, old page.Ref)
	}{
		{"two full pages swapped", func(l *lab, it *sched.Item, _ page.Ref) { l.swap(it.Pages[0].Page, it.Pages[1].Page) }},
		{"a full page swapped with the one being filled", func(l *lab, it *sched.Item, _ page.Ref) {
			l.swap(it.Pages[0].Page, it.Pages[len(it.Pages)-1].Page)
		}},
		{"two entries of the page table swapped", func(_ *lab, it *sched.Item, _ page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[0], it.Pages[1] = it.Pages[1], it.Pages[0]
		}},
		{"an old reference to the same page", func(_ *lab, it *sched.Item, _ page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[1].Generation--
		}},
		{"an old reference from a request that has ended", func(_ *lab, it *sched.Item, old page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[0] = old
		}},
		{"an old reference in place of the page being filled", func(_ *lab, it *sched.Item, old page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[len(it.Pages)-1] = old
		}},
		{"a reference from another incarnation", func(_ *lab, it *sched.Item, _ page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[0].Incarnation++
		}},
		{"a page beyond the slab", func(l *lab, it *sched.Item, _ page.Ref) {
			it.Pages = slices.Clone(it.Pages)
			it.Pages[0].Page = page.Index(l.slab.Pages)
		}},
	}
	noCache := func(c *Config) { c.PrefixCache = false }
	want := alone(t, prompt(other, 40), 24)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var l *lab
			var old page.Ref
			spoiled := false
			l = newLab(t, eachItem(func(it *sched.Item) {
				if it.Seq == 1 {
					old = it.Pages[0] // of a request that ends before the others begin
				}
				if it.Seq == 2 && it.Start == 40+before-1 && !spoiled {
					spoiled = true
					c.spoil(l, it, old)
				}
			}), noCache)
			if _, _, err := l.collect(l.submit(prompt(9, 20), 2)); err != nil {
				t.Fatal(err)
			}
			v, o := l.submit(prompt(victim, 40), 24), l.submit(prompt(other, 40), 24)
			got, _, err := l.collect(v)
			if !errors.Is(err, request.ErrPageCheck) || len(got) != before {
				t.Errorf("the victim got %d tokens and %v; want the %d from before the fault and ErrPageCheck", len(got), err, before)
			}
			if got, end, err := l.collect(o); err != nil || end != sched.EndLength || !slices.Equal(got, want) {
				t.Errorf("the other request was harmed: %v %v\n got %v\nwant %v", end, err, got, want)
			}
			if n := l.failures("header"); n < 1 {
				t.Errorf("kv_page_check_failures_total{check=header} is %v", n)
			}
			l.home()
		})
	}
}

// A page is spent a second time: its reference is replayed where a new page is due. The page's owner keeps it.
func TestAReplayedSpendDoesNotTakeThePage(t *testing.T) {
	var l *lab
	var taken page.Ref
	replayed := false
	l = newLab(t, eachItem(func(it *sched.Item) {
		if it.Seq == 1 {
			taken = it.Pages[0]
		}
		if it.Seq == 2 && it.Start == 48 && !replayed {
			replayed = true
			it.Pages = slices.Clone(it.Pages)
			it.Pages[3] = taken
		}
	}))
	owner, thief := l.submit(prompt(1, 40), 60), l.submit(prompt(2, 40), 60)
	want := alone(t, prompt(1, 40), 60)
	if _, _, err := l.collect(thief); !errors.Is(err, request.ErrPageCheck) {
		t.Errorf("the request with the replayed reference ended with %v, want ErrPageCheck", err)
	}
	if got, _, err := l.collect(owner); err != nil || !slices.Equal(got, want) {
		t.Errorf("the page's owner was harmed: %v\n got %v\nwant %v", err, got, want)
	}
	if !replayed {
		t.Error("the test replayed nothing")
	}
	l.home()
}

// One byte of a page in the prefix index changes. The next request with that prefix is not answered from it: the hit is refused, the page quarantined,
// the prompt computed anew.
func TestAnAlteredCachedPageIsRefused(t *testing.T) {
	p := prompt(3, 70)
	want := alone(t, p, 16)
	var l *lab
	var pages []page.Ref
	l = newLab(t, func(role string, m any) any {
		if r, ok := m.(*run); ok && role == "runner" && r.batch.Items[0].Seq == 1 {
			pages = r.batch.Items[0].Pages
		}
		return m
	})
	if _, _, err := l.collect(l.submit(p, 16)); err != nil {
		t.Fatal(err)
	}
	if r := l.home(); r.Counts.Indexed != 5 {
		t.Fatalf("%d pages in the prefix index, want 5", r.Counts.Indexed)
	}
	const bad = 2
	size := l.layout.PageBytes()
	host.Bytes(l.slab.Data)[int(pages[bad].Page)*size+size/3] ^= 1

	s := l.submit(p, 16)
	got, _, err := l.collect(s)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the answer after the fault: %v\n got %v\nwant %v", err, got, want)
	}
	if s.Cached() != bad*l.layout.PageSize {
		t.Errorf("%d prompt tokens came from the cache, want the %d before the altered page", s.Cached(), bad*l.layout.PageSize)
	}
	r := l.home()
	if r.Stats.Bad != 1 || l.failures("bytes") != 1 {
		t.Errorf("quarantined %d, check failures %v; want 1 and 1", r.Stats.Bad, l.failures("bytes"))
	}
	// What was computed anew is cached again, and good.
	s = l.submit(p, 16)
	if got, _, err := l.collect(s); err != nil || !slices.Equal(got, want) || s.Cached() != 64 {
		t.Errorf("the third request: %v, cached %d\n got %v\nwant %v", err, s.Cached(), got, want)
	}
}

// A long prefix is checked in pieces, with steps of others in between; the verdict is the same.
func TestALongCheckIsTakenInPieces(t *testing.T) {
	var pieces atomic.Int32
	var l *lab
	l = newLab(t, func(role string, m any) any {
		if _, ok := m.(*verify); ok && role == "runner" {
			pieces.Add(1)
		}
		return m
	}, func(c *Config) { c.verifyBudget = 2 * c.Layout.PageBytes() })
	p := prompt(3, 100)
	want, _, err := l.collect(l.submit(p, 8))
	if err != nil {
		t.Fatal(err)
	}
	s := l.submit(p, 8)
	if got, _, err := l.collect(s); err != nil || !slices.Equal(got, want) || s.Cached() != 96 {
		t.Errorf("%v, cached %d\n got %v\nwant %v", err, s.Cached(), got, want)
	}
	if n := pieces.Load(); n != 3 {
		t.Errorf("6 pages were checked in %d pieces, want 3", n)
	}
	l.home()
}

// The slow patrol finds an altered idle page before any request asks for it.
func TestThePatrolFindsAnAlteredPage(t *testing.T) {
	l := newLab(t, nil)
	if _, _, err := l.collect(l.submit(prompt(3, 70), 4)); err != nil {
		t.Fatal(err)
	}
	l.home()
	for i := range host.Bytes(l.slab.Data) {
		if host.Bytes(l.slab.Data)[i] != 0 {
			host.Bytes(l.slab.Data)[i] ^= 4
			break
		}
	}
	l.tellPool(kvpool.Event{Kind: kvpool.EvPatrol, N: l.slab.Pages})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		r, _, err := l.Report(ctx, true)
		if err != nil || r.Broken != nil {
			t.Fatal(err, r.Broken)
		}
		if r.Stats.Bad == 1 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// A model whose logits are all NaN chooses nothing: its requests end with an error, the node goes on.
func TestNoUsableLogits(t *testing.T) {
	l := newLab(t, nil, func(c *Config) {
		f, err := gguf.Parse("broken", slices.Clone(builtin.GGUF))
		if err != nil {
			t.Fatal(err)
		}
		norm, _ := f.Tensor("output_norm.weight")
		binary.LittleEndian.PutUint32(norm.Data, math.Float32bits(float32(math.NaN())))
		m, err := model.Load(f, c.Device, model.Options{MaxRows: 128, MaxLogits: 16})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		c.Model = m
	})
	for i := range 3 {
		if got, _, err := l.collect(l.submit(prompt(i, 40), 8)); !errors.Is(err, request.ErrNoLogits) || len(got) != 0 {
			t.Errorf("request %d: %d tokens, %v; want ErrNoLogits", i, len(got), err)
		}
	}
	if err := l.Health(); err != nil {
		t.Error(err)
	}
	l.home()
}
