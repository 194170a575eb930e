package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kvasir-engine/kvasir"
)

func TestFlagsBecomeTheConfiguration(t *testing.T) {
	defaults := kvasir.Config{PageSize: 16, KVCacheDType: "auto", MaxNumSeqs: 1, MaxNumBatchedTokens: 512, MaxQueue: 1024}
	with := func(change func(*kvasir.Config)) kvasir.Config {
		c := defaults
		change(&c)
		return c
	}
	tests := []struct {
		args string
		env  map[string]string
		want kvasir.Config
	}{
		{"", nil, defaults},
		{"--model m.gguf --served-model-name n --threads 3", nil, with(func(c *kvasir.Config) { c.Model, c.ServedModelName, c.Threads = "m.gguf", "n", 3 })},
		{"--page-size 64 --max-model-len 100 --max-total-tokens 1000", nil, with(func(c *kvasir.Config) { c.PageSize, c.MaxModelLen, c.MaxTotalTokens = 64, 100, 1000 })},
		{"--target-itl 50ms", nil, with(func(c *kvasir.Config) { c.TargetITL = 50 * time.Millisecond })},
		{"--max-num-seqs 8 --max-num-batched-tokens 9 --max-prefill-chunk 7 --max-queue 6", nil, with(func(c *kvasir.Config) {
			c.MaxNumSeqs, c.MaxNumBatchedTokens, c.MaxPrefillChunk, c.MaxQueue = 8, 9, 7, 6
		})},
		{"--kv-cache-dtype f32 --scrub --no-enable-prefix-caching", nil, with(func(c *kvasir.Config) { c.KVCacheDType, c.Scrub, c.DisablePrefixCache = "f32", true, true })},
		{"--enable-prefix-caching", nil, defaults},
		{"", map[string]string{"KVASIR_MODEL": "e.gguf", "KVASIR_MAX_NUM_SEQS": "5", "KVASIR_ENABLE_PREFIX_CACHING": "false"},
			with(func(c *kvasir.Config) { c.Model, c.MaxNumSeqs, c.DisablePrefixCache = "e.gguf", 5, true })},
		{"--max-num-seqs 6", map[string]string{"KVASIR_MAX_NUM_SEQS": "5"}, with(func(c *kvasir.Config) { c.MaxNumSeqs = 6 })},
		// Variables that other commands would not take are none of ours.
		{"", map[string]string{"KVASIR_DRAIN_TIMEOUT": "?", "KVASIR_PORT": "tcp://10.0.0.1:8080"}, defaults},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			b := newBench(&fakeEngine{answer: says("ok")}, "")
			if status := b.run(append([]string{"run", "prompt"}, strings.Fields(tt.args)...)); status != 0 {
				t.Fatalf("exit status %d: %s", status, b.stderr.String())
			}
			if diff := cmp.Diff(tt.want, b.cfg, cmpopts.IgnoreFields(kvasir.Config{}, "Logger", "Registry", "Progress")); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFlagsBecomeTheRequest(t *testing.T) {
	seed := uint64(18446744073709551615)
	eng := &fakeEngine{answer: says("ok")}
	b := newBench(eng, "")
	args := "run --temperature 0.7 --top-k 40 --top-p 0.9 --min-p 0.05 --seed 18446744073709551615 --repetition-penalty 1.1 --max-tokens 12 --system be_brief two words"
	if status := b.run(strings.Fields(args)); status != 0 {
		t.Fatalf("exit status %d: %s", status, b.stderr.String())
	}
	want := kvasir.Request{
		MaxTokens: 12,
		Messages:  []kvasir.Message{{Role: "system", Content: "be_brief"}, {Role: "user", Content: "two words"}},
		Sampling:  kvasir.Sampling{Temperature: 0.7, TopK: 40, TopP: 0.9, MinP: 0.05, RepetitionPenalty: 1.1, Seed: &seed},
	}
	if diff := cmp.Diff([]kvasir.Request{want}, eng.asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestBadFlagsAreNamed(t *testing.T) {
	tests := []struct {
		args string
		want []string
	}{
		{"run x --page-size 8", []string{"--page-size", `"16"`, `"128"`, `"8"`}},
		{"run x --kv-cache-dtype int4", []string{"--kv-cache-dtype", `"f16"`, `"int4"`}},
		{"run x --threads=-1", []string{"--threads is -1", "at least 0"}},
		{"run x --target-itl=-1s", []string{"--target-itl is -1s", "at least 0"}},
		{"run x --target-itl 50", []string{"--target-itl", "missing unit"}},
		{"run x --max-queue 0", []string{"--max-queue is 0", "at least 1"}},
		{"run x --max-num-batched-tokens 0", []string{"--max-num-batched-tokens is 0", "at least 1"}},
		{"run x --max-model-len many", []string{"--max-model-len", `"many"`}},
		{"run x --max-num-seqs 1000", []string{"--max-num-batched-tokens is 512", "--max-num-seqs", "1000"}},
		{"run x --temperature=-1", []string{"--temperature is -1", "at least 0"}},
		{"run x --temperature NaN", []string{"--temperature is NaN"}},
		{"run x --temperature Inf", []string{"--temperature is +Inf"}},
		{"run x --top-p 1.5", []string{"--top-p is 1.5", "0 to 1"}},
		{"run x --min-p=-0.5", []string{"--min-p is -0.5", "0 to 1"}},
		{"run x --top-k=-1", []string{"--top-k is -1"}},
		{"run x --max-tokens=-1", []string{"--max-tokens is -1"}},
		{"run x --seed=-1", []string{"--seed", "-1"}},
		{"run x --raw --system y", []string{"--raw", "--system"}},
		{"run x --page-sise 16", []string{"--page-sise", "--page-size", "kvasir run --help"}},
		{"serve --port 65536", []string{"--port is 65536", "0 to 65535"}},
		{"serve --port http", []string{"--port", `"http"`}},
		{"serve --drain-timeout 5", []string{"--drain-timeout", "missing unit"}},
		{"serve --drain-timeout=-5s", []string{"--drain-timeout is -5s"}},
		{"serve --log-level loud", []string{"--log-level", `"info"`}},
		{"serve --log-format xml", []string{"--log-format", `"console"`}},
		{"serve extra", []string{"extra"}},
		{"fly", []string{"fly", "kvasir --help"}},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			b := newBench(&fakeEngine{answer: says("ok")}, "")
			if status := b.run(strings.Fields(tt.args)); status != statusUsage {
				t.Errorf("exit status %d, want %d", status, statusUsage)
			}
			wants(t, "standard error", b.stderr.String(), tt.want...)
			if b.stdout.String() != "" {
				t.Errorf("standard output has %q", b.stdout.String())
			}
		})
	}
}

func TestABadVariableIsNamed(t *testing.T) {
	t.Setenv("KVASIR_MAX_TOKENS", "lots")
	b := newBench(&fakeEngine{answer: says("ok")}, "")
	if status := b.run([]string{"run", "x"}); status != statusUsage {
		t.Errorf("exit status %d, want %d", status, statusUsage)
	}
	wants(t, "standard error", b.stderr.String(), "KVASIR_MAX_TOKENS", "lots")
}

func TestHelp(t *testing.T) {
	tests := []struct {
		args []string
		want []string
	}{
		{nil, []string{"run", "serve", "version"}},
		{[]string{"--help"}, []string{"run", "serve", "version"}},
		{[]string{"run", "--help"}, []string{"--model", "--temperature", "--raw", "KVASIR_MAX_MODEL_LEN"}},
		{[]string{"serve", "--help"}, []string{"--[no-]enable-prefix-caching", "--host", "default: 8080", "KVASIR_HTTP_PORT"}},
	}
	for _, tt := range tests {
		b := newBench(nil, "")
		if status := b.run(tt.args); status != 0 {
			t.Errorf("%q: exit status %d: %s", tt.args, status, b.stderr.String())
		}
		wants(t, "help", b.stdout.String(), tt.want...)
	}
}

// What people reach for comes first, and what engines are made of last.
func TestHelpBeginsWithWhatTheCommandIsFor(t *testing.T) {
	for command, order := range map[string][]string{
		"run":   {"Print this help.", "\nAnswer\n", "--temperature", "--system", "\nTerminal\n", "--stats", "--no-history", "\nEngine\n", "--model"},
		"serve": {"Print this help.", "\nHTTP\n", "--host", "\nEngine\n", "--model", "\nLog\n", "--log-level"},
	} {
		b := newBench(nil, "")
		b.run([]string{command, "--help"})
		rest := b.stdout.String()
		for _, part := range order {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Errorf("the help of %s lacks %q, or has it too early:\n%s", command, part, b.stdout.String())
				break
			}
			rest = after
		}
	}
}

// A default that the help tells must be the one that the parser takes.
func TestHelpTellsTheDefaults(t *testing.T) {
	parser, err := newParser(io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Children {
		for _, flag := range command.Flags {
			if flag.Help == "" {
				t.Errorf("%s --%s has no help", command.Name, flag.Name)
			}
			if flag.HasDefault && flag.Default != "true" && !strings.Contains(flag.Help, "(default: "+flag.Default+")") {
				t.Errorf("%s --%s has the default %s, and the help %q", command.Name, flag.Name, flag.Default, flag.Help)
			}
		}
	}
}
