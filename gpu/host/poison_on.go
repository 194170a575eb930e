//go:build invariants

package host

// scrubByte is what Scrub fills a page with. In a build with invariants a page is not zeroed but poisoned: as float16 and as float32 these bytes are NaN, so that whoever reads
// a page that was freed gets no usable logits instead of plausible ones.
const scrubByte = 0xff
