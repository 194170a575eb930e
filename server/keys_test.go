package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseKeys(t *testing.T) {
	const text = "\xef\xbb\xbf# our customers\r\n\r\nsk-a blue # since May\r\n\tsk-b\n  #sk-c\nsk#d red"
	k, err := ParseKeys(strings.NewReader(text), "keys")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"sk-a": "blue", "sk-b": "default", "sk#d": "red", "sk-c": "", "#sk-c": "", "": ""} {
		r := &http.Request{Header: http.Header{"Authorization": {"Bearer " + key}}}
		if got, ok := k.tenantOf(r); got != want || ok != (want != "") {
			t.Errorf("key %q is tenant %q, %v", key, got, ok)
		}
	}
	if k.String() != "3 API keys" {
		t.Errorf("it is called %v", k)
	}
}

func TestKeyFilesThatAreWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "keys: no keys in it; a line is KEY or KEY TENANT"},
		{"# sk-a\n", "keys: no keys in it; a line is KEY or KEY TENANT"},
		{"sk-a\nsk-b two tenants\n", "keys:2: 3 words, but a line is KEY or KEY TENANT"},
		{"sk-a x\n\nsk-a y\n", "keys:3: the key of line 1 again"},
		{"sk-ä\n", "keys:1: the key has characters that an HTTP header cannot carry; use visible ASCII"},
		{"ok\n" + strings.Repeat("x", 1<<20), "keys:2: bufio.Scanner: token too long"},
	} {
		_, err := ParseKeys(strings.NewReader(c.text), "keys")
		if err == nil || err.Error() != "server: "+c.want {
			t.Errorf("%q: %v\nwant %s", clip(c.text), err, c.want)
		}
	}
}

func TestLoadKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	if _, err := LoadKeys(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file is not named: %v", err)
	}
	if err := os.WriteFile(path, []byte("k\nk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKeys(path); err == nil || !strings.Contains(err.Error(), path+":2:") {
		t.Errorf("file and line are not named: %v", err)
	}
	if err := os.WriteFile(path, []byte("k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKeys(path); err != nil {
		t.Error(err)
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add("sk-a blue # x\nsk-b\n")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKeys(strings.NewReader(text), "keys")
		if (k == nil) == (err == nil) {
			t.Errorf("%v and %v", k, err)
		}
		if err == nil && len(k.tenants) == 0 {
			t.Error("keys that let nobody in")
		}
	})
}
