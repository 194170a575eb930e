package kvasir

import (
	"strings"
	"testing"
	"time"

	"github.com/kvasir-engine/kvasir/gpu"
)

// A layout of 1 KiB a token.
var kib = gpu.KVLayout{Layers: 4, KVHeads: 2, HeadDim: 32, PageSize: 16, Type: gpu.F16}

func TestPlanPool(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name        string
		cfg         Config
		context     int
		free        int64
		wantLen     int
		wantPages   int
		wantLowered bool
		wantErr     []string // all in the error
	}{
		{"room for everything", Config{}, 1024, 1 << 40, 1024, 64 * 64, false, nil},
		{"within a quarter of the free memory", Config{}, 1024, 64 * mib, 1024, 1024, false, nil},
		{"a context that does not fit is lowered", Config{}, 100_000, 64 * mib, 16384, 1024, true, nil},
		{"a length that was asked for may take more than a quarter", Config{MaxModelLen: 32768}, 100_000, 64 * mib, 32768, 2048, false, nil},
		{"but not more than there is", Config{MaxModelLen: 90_000}, 100_000, 64 * mib, 0, 0, false, []string{"90000", "--max-model-len", "87 MiB", "64 MiB"}},
		{"a pool that was asked for is taken as it is", Config{MaxTotalTokens: 5000}, 1024, mib, 1024, 312, false, nil},
		{"a pool smaller than the model's context is refused", Config{MaxTotalTokens: 681_280}, 1_048_576, 1 << 40, 0, 0, false,
			[]string{"681280", "1048576", "--max-total-tokens", "--max-model-len"}},
		{"a pool smaller than the context asked for is refused", Config{MaxTotalTokens: 512, MaxModelLen: 600}, 1024, 1 << 40, 0, 0, false, []string{"512", "600"}},
		{"a part of a page holds nothing", Config{MaxTotalTokens: 1023, MaxModelLen: 1023}, 1024, 1 << 40, 0, 0, false, []string{"1008", "1023"}},
		{"longer than the model's context", Config{MaxModelLen: 2000}, 1024, 1 << 40, 0, 0, false, []string{"2000", "1024", "--max-model-len"}},
		{"no room for a page", Config{}, 1024, 4096, 0, 0, false, []string{"16 KiB", "--max-model-len"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := c.cfg.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			p, lowered, err := planPool(cfg, kib, c.context, c.free)
			if c.wantErr != nil {
				mention(t, err, c.wantErr...)
				return
			}
			if err != nil || p.maxModelLen != c.wantLen || p.pages != c.wantPages || lowered != c.wantLowered {
				t.Errorf("%+v lowered %v, %v; want length %d, pages %d, lowered %v", p, lowered, err, c.wantLen, c.wantPages, c.wantLowered)
			}
			if p.tokens(kib) < p.maxModelLen {
				t.Errorf("a request of %d tokens fits the context but not the pool of %d", p.maxModelLen, p.tokens(kib))
			}
		})
	}
}

// mention checks that err says all of what it should.
func mention(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not mention %q", err, w)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want []string
	}{
		"page size":          {Config{PageSize: 20}, []string{"PageSize", "20", "16, 32, 64 or 128"}},
		"a large page":       {Config{PageSize: 256}, []string{"PageSize"}},
		"negative":           {Config{MaxQueue: -1}, []string{"MaxQueue", "-1"}},
		"negative time":      {Config{TargetITL: -time.Second}, []string{"TargetITL", "-1s"}},
		"KV type":            {Config{KVCacheDType: "fp8"}, []string{"KVCacheDType", "fp8", "f16"}},
		"budget":             {Config{MaxNumSeqs: 100, MaxNumBatchedTokens: 50}, []string{"MaxNumBatchedTokens", "50", "100"}},
		"pool under context": {Config{MaxTotalTokens: 512}, []string{"512", "1024", "--max-total-tokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Open(t.Context(), c.cfg)
			if err == nil {
				e.Close()
			}
			mention(t, err, c.want...)
		})
	}
}

func TestFreeMemoryIsPlausible(t *testing.T) {
	if free := freeMemory(); free < 1<<20 || free > 1<<50 {
		t.Errorf("%d bytes are free", free)
	}
}
