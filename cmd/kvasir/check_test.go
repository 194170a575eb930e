package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		args   string
		status int
		want   []string
	}{
		{"check", 0, []string{"kvasir-mini (llama)", "1024 tokens; the model's own is 1024", "of f16", "16 tokens", "verdict       yes"}},
		{"check --max-total-tokens 4096 --page-size 64", 0, []string{"64 pages, 4096 tokens", "verdict       yes"}},
		{"check --max-total-tokens 512", statusFailed,
			[]string{"32 pages, 512 tokens", "verdict       no: ", "512", "1024", "raise --max-total-tokens to 1024", "lower --max-model-len to 512"}},
		{"check --max-model-len 2000", statusFailed, []string{"verdict       no: ", "2000", "1024"}},
	}
	for _, tt := range tests {
		b := newBench(nil, "")
		if status := b.run(strings.Fields(tt.args)); status != tt.status || b.stderr.String() != "" {
			t.Errorf("%s: exit status %d, want %d; standard error %q", tt.args, status, tt.status, b.stderr.String())
		}
		wants(t, tt.args, b.stdout.String(), tt.want...)
	}
}

func TestCheckAsJSON(t *testing.T) {
	for args, want := range map[string]struct {
		status int
		ok     bool
	}{"check --json": {0, true}, "check --json --max-total-tokens 512": {statusFailed, false}} {
		b := newBench(nil, "")
		if status := b.run(strings.Fields(args)); status != want.status {
			t.Errorf("%s: exit status %d: %s", args, status, b.stderr.String())
		}
		var got struct {
			MaxModelLen int    `json:"max_model_len"`
			OK          *bool  `json:"ok"`
			Refusal     string `json:"refusal"`
		}
		if err := json.Unmarshal([]byte(b.stdout.String()), &got); err != nil {
			t.Fatal(err)
		}
		if got.MaxModelLen != 1024 || got.OK == nil || *got.OK != want.ok || (got.Refusal == "") != want.ok {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestCheckNeedsAModel(t *testing.T) {
	b := newBench(nil, "")
	if status := b.run([]string{"check", "--model", "missing.gguf"}); status != statusFailed || b.stdout.String() != "" {
		t.Errorf("exit status %d, printed %q", status, b.stdout.String())
	}
	wants(t, "standard error", b.stderr.String(), "--model", "missing.gguf")
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 3 << 30: "3 GiB", 150<<20 + 1: "150 MiB", 2 << 50: "2048 TiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
