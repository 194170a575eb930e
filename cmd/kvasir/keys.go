package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// What terminals send and obey (xterm's control sequences; bracketed paste is DEC private mode 2004).
const (
	deleteKey  = "\x1b[3~"
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
)

// Characters for private use, by which keys tells the editor what it took out of the input, and which stand in a line for what a line cannot hold.
const (
	deleteMark  = '\ue003' // the Delete key
	pasteMark   = '\ue200' // a paste
	tabMark     = '\ue009'
	newlineMark = '\ue00a'
)

var (
	toMarks   = strings.NewReplacer("\t", string(tabMark), "\n", string(newlineMark))
	fromMarks = strings.NewReplacer(string(tabMark), "\t", string(newlineMark), "\n")
)

// keys is what is typed, with marks in place of what readline would get wrong: to it the Delete key is Ctrl-D, and a paste is typed line by line.
type keys struct {
	in  io.Reader
	err error  // of in
	raw []byte // read, and not yet known to be whole
	out []byte // to be handed on

	mu     sync.Mutex
	pastes []string // one for each pasteMark that was not yet asked about
}

// Read implements io.Reader.
func (k *keys) Read(p []byte) (int, error) {
	for len(k.out) == 0 {
		if k.err != nil {
			return 0, k.err
		}
		var n int
		n, k.err = k.in.Read(p)
		k.raw = append(k.raw, p[:n]...)
		for k.next() {
		}
	}
	n := copy(p, k.out)
	k.out = k.out[n:]
	return n, nil
}

// next moves something from raw to out. It is false if there is nothing, or only what may be the beginning of a sequence.
func (k *keys) next() bool {
	begins := func(sequence string) bool { return bytes.HasPrefix(k.raw, []byte(sequence)) }
	mayBegin := func(sequence string) bool { return k.err == nil && strings.HasPrefix(sequence, string(k.raw)) }
	switch {
	case len(k.raw) == 0:
		return false
	case begins(pasteBegin):
		return k.paste()
	case begins(deleteKey):
		k.move(len(deleteKey), string(deleteMark))
	case mayBegin(pasteBegin), mayBegin(deleteKey):
		return false
	default:
		n := 1 + bytes.IndexByte(k.raw[1:], '\x1b')
		if n == 0 {
			n = len(k.raw)
		}
		k.move(n, string(k.raw[:n]))
	}
	return true
}

// paste moves a whole paste.
func (k *keys) paste() bool {
	text, after, ended := bytes.Cut(k.raw[len(pasteBegin):], []byte(pasteEnd))
	if !ended && k.err == nil {
		return false
	}
	k.mu.Lock()
	k.pastes = append(k.pastes, pasted(string(text)))
	k.mu.Unlock()
	k.move(len(k.raw)-len(after), string(pasteMark))
	return true
}

// move puts what into out for the first n bytes of raw.
func (k *keys) move(n int, what string) {
	k.out = append(k.out, what...)
	k.raw = k.raw[n:]
}

// pasted is a pasted text without line ends at its end, and without control characters other than newline and tab: these are no keys.
func pasted(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\ufffd"))
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	return strings.TrimRight(text, "\n")
}

// takePaste returns what stands behind the next pasteMark.
func (k *keys) takePaste() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.pastes) == 0 {
		return ""
	}
	text := k.pastes[0]
	k.pastes = k.pastes[1:]
	return text
}

// OnChange implements readline.Listener: it does what a mark means that was just put into the line before pos.
func (k *keys) OnChange(line []rune, pos int, key rune) (newLine []rune, newPos int, changed bool) {
	if key != deleteMark && key != pasteMark {
		return nil, 0, false
	}
	text, end := "", pos
	if key == pasteMark {
		text = toMarks.Replace(k.takePaste())
	} else {
		end = min(pos+1, len(line))
	}
	if pos == 0 || line[pos-1] != key { // it went elsewhere, into a search
		return nil, 0, false
	}
	insert := []rune(text)
	return slices.Concat(line[:pos-1], insert, line[end:]), pos - 1 + len(insert), true
}

// Paint implements readline.Painter: it shows marks as something visible.
func (k *keys) Paint(line []rune, _ int) []rune {
	shown := slices.Clone(line)
	for i, r := range shown {
		switch r {
		case newlineMark:
			shown[i] = '↵'
		case tabMark:
			shown[i] = ' ' // of the width that readline counts
		}
	}
	return shown
}
