package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

const magic = "GGUF"

// checkMagic refuses what is not GGUF, and says what it is where that can be told from its first bytes.
func checkMagic(name string, b []byte) error {
	if bytes.HasPrefix(b, []byte(magic)) {
		return nil
	}
	if len(b) == 0 {
		return fmt.Errorf("gguf: %s: the file is empty", name)
	}
	if what := sniff(b); what != "" {
		return fmt.Errorf("gguf: %s: not a GGUF file but %s", name, what)
	}
	return fmt.Errorf("gguf: %s: not a GGUF file: it begins with %q where %q is expected", name, b[:min(len(b), len(magic))], magic)
}

// sniff recognises what is commonly mistaken for a GGUF file; "" if it recognises nothing.
func sniff(b []byte) string {
	has := func(prefix string) bool { return bytes.HasPrefix(b, []byte(prefix)) }
	text := bytes.ToLower(bytes.TrimLeft(b[:min(len(b), 512)], " \t\r\n\ufeff"))
	switch {
	case has("FUGG"):
		return "a big-endian one; only little-endian files are supported"
	case has("lmgg"), has("fmgg"), has("tjgg"), has("algg"): // "ggml", "ggmf", "ggjt", "ggla" as little-endian numbers
		return "the format before it (ggml); convert the model anew"
	case has("PK\x03\x04"):
		return "a zip archive (a PyTorch checkpoint, perhaps); convert the model to GGUF"
	case has("\x7fELF"):
		return "a program or library (ELF)"
	case has("\x1f\x8b"):
		return "a gzip archive; unpack it"
	case has("version https://git-lfs"):
		return "a Git LFS pointer; fetch the file itself with \"git lfs pull\""
	case bytes.HasPrefix(text, []byte("<!doctype")), bytes.HasPrefix(text, []byte("<html")):
		return "a web page; the download went to a page about the file"
	case len(b) > 8 && b[8] == '{' && binary.LittleEndian.Uint64(b) < 1<<32:
		return "a safetensors file; convert the model to GGUF"
	case bytes.HasPrefix(text, []byte("{")):
		return "JSON text"
	}
	return ""
}

// versionError says what a version that cannot be read means.
func versionError(name string, version uint32) error {
	switch {
	case version == 1:
		return fmt.Errorf("gguf: %s: GGUF version 1, which is too old; convert the model anew (versions 2 and 3 are supported)", name)
	case version != 0 && version&0xffff == 0: // a small number seen from the wrong end
		return fmt.Errorf("gguf: %s: a big-endian GGUF file; only little-endian files are supported", name)
	}
	return fmt.Errorf("gguf: %s: GGUF version %d; versions 2 and 3 are supported", name, version)
}
