package server

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

const defaultTenant = "default"

// Keys are the API keys that may call the server, each with the tenant it speaks for.
//
// Only hashes of keys are held, and a key is looked up by its hash: the time this takes tells nothing about how near a guess was.
type Keys struct {
	tenants map[[sha256.Size]byte]string
}

// LoadKeys reads the file that --api-keys names; ParseKeys says what is in it.
func LoadKeys(path string) (*Keys, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("server: API keys: %w", err)
	}
	defer f.Close()
	return ParseKeys(f, path)
}

// ParseKeys reads one key a line: "KEY" or "KEY TENANT", the tenant being "default" where it is left out. Empty lines and what follows a # at the start of
// a word are skipped. Errors name the source and the line, never a key. A source without keys is an error: it would lock everyone out.
func ParseKeys(r io.Reader, source string) (*Keys, error) {
	k := &Keys{tenants: map[[sha256.Size]byte]string{}}
	lineOf := map[[sha256.Size]byte]int{}
	scan := bufio.NewScanner(r)
	line := 0
	for scan.Scan() {
		line++
		text := scan.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // byte order mark
		}
		words := keyWords(string(text))
		if len(words) == 0 {
			continue
		}
		if len(words) > 2 {
			return nil, fmt.Errorf("server: %s:%d: %d words, but a line is KEY or KEY TENANT", source, line, len(words))
		}
		if !visibleASCII(words[0]) {
			return nil, fmt.Errorf("server: %s:%d: the key has characters that an HTTP header cannot carry; use visible ASCII", source, line)
		}
		sum := sha256.Sum256([]byte(words[0]))
		if first, ok := lineOf[sum]; ok {
			return nil, fmt.Errorf("server: %s:%d: the key of line %d again", source, line, first)
		}
		lineOf[sum] = line
		k.tenants[sum] = defaultTenant
		if len(words) == 2 {
			k.tenants[sum] = words[1]
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("server: %s:%d: %w", source, line+1, err)
	}
	if len(k.tenants) == 0 {
		return nil, fmt.Errorf("server: %s: no keys in it; a line is KEY or KEY TENANT", source)
	}
	return k, nil
}

// keyWords splits a line, up to its comment.
func keyWords(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		if strings.HasPrefix(w, "#") {
			return words[:i]
		}
	}
	return words
}

func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// String keeps keys out of logs.
func (k *Keys) String() string { return fmt.Sprintf("%d API keys", len(k.tenants)) }

// GoString keeps keys out of logs.
func (k *Keys) GoString() string { return k.String() }

// tenantOf is who sent r: the tenant of the key in "Authorization: Bearer KEY".
func (k *Keys) tenantOf(r *http.Request) (string, bool) {
	scheme, key, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	tenant, ok := k.tenants[sha256.Sum256([]byte(strings.TrimSpace(key)))]
	return tenant, ok
}
