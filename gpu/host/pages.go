package host

import (
	"hash/crc32"

	"github.com/kvasir-engine/kvasir/gpu"
	"github.com/kvasir-engine/kvasir/kvpool/page"
)

// pageBytes returns the bytes of a page of a slab.
func pageBytes(slab []byte, l gpu.KVLayout, p page.Index) []byte {
	n := l.PageBytes()
	i := int(p) * n
	return slab[i : i+n : i+n]
}

// headerBytes returns the encoded header of a page.
func headerBytes(s *gpu.Slab, p page.Index) []byte {
	i := int(p) * page.HeaderSize
	return bytesOf(s.Headers)[i : i+page.HeaderSize]
}

func (d *Device) CheckHeaders(s *gpu.Slab, checks []gpu.HeaderCheck, bad []int) []int {
	headers := bytesOf(s.Headers)
	for i := range checks { // without copies: this is done for every page of every sequence in every step
		c := &checks[i]
		if !c.Want.Is(headers[int(c.Page)*page.HeaderSize:][:page.HeaderSize], c.AnyChecksum) {
			bad = append(bad, i)
		}
	}
	return bad
}

func (d *Device) ReadHeader(s *gpu.Slab, p page.Index) page.Header {
	var h page.Header
	h.Decode(headerBytes(s, p))
	return h
}

func (d *Device) WriteHeader(s *gpu.Slab, p page.Index, h page.Header) { h.Encode(headerBytes(s, p)) }

func (d *Device) Checksum(s *gpu.Slab, p page.Index) uint32 {
	return crc32.Checksum(pageBytes(bytesOf(s.Data), s.Layout, p), crc32.MakeTable(crc32.Castagnoli))
}

func (d *Device) Scrub(s *gpu.Slab, p page.Index) {
	b := pageBytes(bytesOf(s.Data), s.Layout, p)
	for i := range b {
		b[i] = scrubByte
	}
	clear(headerBytes(s, p))
}

func (d *Device) ZeroTail(s *gpu.Slab, p page.Index, from int) {
	b := pageBytes(bytesOf(s.Data), s.Layout, p)
	slot := s.Layout.HeadDim * s.Layout.ElemBytes()
	for head := s.Layout.PageSize * slot; len(b) > 0; b = b[head:] { // keys or values of one head in one layer
		clear(b[from*slot : head])
	}
}

func (d *Device) CopyPage(s *gpu.Slab, dst, src page.Index) {
	data := bytesOf(s.Data)
	copy(pageBytes(data, s.Layout, dst), pageBytes(data, s.Layout, src))
}
