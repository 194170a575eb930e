package kvpool

import "github.com/kvasir-engine/kvasir/kvpool/page"

// HeaderFilling is the header of a page of which writer has filled the first fill slots. start is the chain hash up to the page's start.
func HeaderFilling(g page.Generation, writer page.Seq, start page.Hash, fill int) page.Header {
	return page.Header{Generation: g, Writer: writer, Chain: start, Fill: uint32(fill)}
}

// HeaderSealed is the header of a sealed page of fill slots. end is the chain hash to its last filled slot, checksum the crc32c of its bytes.
func HeaderSealed(g page.Generation, d page.Domain, end page.Hash, fill int, checksum uint32) page.Header {
	return page.Header{Generation: g, Domain: d, Chain: end, Fill: uint32(fill), Checksum: checksum, Sealed: true}
}

// Expect says what the headers of a sequence's pages must be, from what the sequence itself knows: never from the pages.
//
// It holds where every page is sealed in the step that fills it.
type Expect struct {
	Seq      page.Seq
	Domain   page.Domain
	PageSize int
	// Chain[i] is the chain hash up to the start of page i: Chain[0] that of no tokens, Chain[1:] the PageHashes.
	Chain []page.Hash
}

// Header is what page i, in its life g, must show when the first computed tokens of the sequence lie in pages. Its checksum is left
// 0: compare with any checksum.
//
// Preconditions: page i holds at least one of them (what a page shows that is yet to be written is of no account), and Chain reaches to page i's
// start, or to its end where it is full.
func (x *Expect) Header(i int, g page.Generation, computed int) page.Header {
	fill := computed - i*x.PageSize
	if fill >= x.PageSize {
		return HeaderSealed(g, x.Domain, x.Chain[i+1], x.PageSize, 0)
	}
	return HeaderFilling(g, x.Seq, x.Chain[i], fill)
}
