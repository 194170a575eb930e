package chat

import "strings"

// block is an open block statement.
type block struct {
	keyword string
	body    int  // for a loop: place in preparer.out that is kept free for the opening of a scope; -1 once the body is over
	sets    bool // the loop's body sets variables
	jumps   bool // it has a break or a continue, which must not lie within a scope: the library would lose the text before it
}

// statement emits a statement with its guards.
func (p *preparer) statement(body string) {
	switch keyword := firstWord(body); keyword {
	case "for":
		p.emit("{%", body, "%}")
		p.emit("{{", stepName+"()", "}}")
		p.out = append(p.out, "")
		p.blocks = append(p.blocks, block{keyword: keyword, body: len(p.out) - 1})
		return
	case "macro":
		p.emit("{%", body, "%}")
		p.emit("{{", enterName+"()", "}}")
		p.blocks = append(p.blocks, block{keyword: keyword})
		return
	case "endmacro":
		p.emit("{{", leaveName+"()", "}}")
		p.close()
	case "endfor":
		p.endBody()
		p.close()
	case "else":
		if n := len(p.blocks); n > 0 && p.blocks[n-1].keyword == "for" {
			p.endBody()
		}
	case "set":
		p.inLoop(func(b *block) { b.sets = true })
		if target, value, ok := strings.Cut(body, "="); ok {
			body = target + "= " + keepName + "(" + value + ")"
		} else {
			p.blocks = append(p.blocks, block{keyword: keyword})
		}
	case "break", "continue":
		p.inLoop(func(b *block) { b.jumps = true })
	case "if", "call", "filter", "generation":
		p.blocks = append(p.blocks, block{keyword: keyword})
	case "endif", "endset", "endcall", "endfilter", "endgeneration":
		p.close()
	}
	p.emit("{%", body, "%}")
}

// close drops the innermost block. That it is the one the end statement names is the library's to check.
func (p *preparer) close() {
	if n := len(p.blocks); n > 0 {
		p.blocks = p.blocks[:n-1]
	}
}

// inLoop changes the innermost loop, if there is one.
func (p *preparer) inLoop(change func(*block)) {
	for i := len(p.blocks) - 1; i >= 0; i-- {
		if p.blocks[i].keyword == "for" {
			change(&p.blocks[i])
			return
		}
	}
}

// endBody ends the body of the innermost block, if that is a loop, and puts the body into a scope where it needs one.
func (p *preparer) endBody() {
	n := len(p.blocks)
	if n == 0 || p.blocks[n-1].keyword != "for" || p.blocks[n-1].body < 0 {
		return
	}
	b := &p.blocks[n-1]
	if b.sets && !b.jumps {
		p.out[b.body] = "{% call " + scopeName + "() %}"
		p.out = append(p.out, "{% endcall %}")
	}
	b.body = -1
}
