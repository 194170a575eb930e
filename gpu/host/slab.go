package host

import (
	"fmt"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// SlabIn is NewSlab in zeroed memory that the caller has. It stays the caller's, who must keep it until the slab's buffers are freed.
func (d *Device) SlabIn(l gpu.KVLayout, pages int, data []byte) (*gpu.Slab, error) {
	if pages < 0 || len(data) != pages*l.PageBytes() || !isAligned(data) {
		return nil, fmt.Errorf("host: %d bytes do not hold %d pages of %v, aligned to 4 bytes", len(data), pages, l)
	}
	headers, err := newBufferOf(pages, page.HeaderSize)
	if err != nil {
		return nil, fmt.Errorf("host: headers of %d pages: %w", pages, err)
	}
	return &gpu.Slab{Layout: l, Pages: pages, Data: &buffer{bytes: data}, Headers: headers}, nil
}
