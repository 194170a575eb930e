//go:build !invariants

package host

// scrubByte is what Scrub fills a page with.
const scrubByte = 0
