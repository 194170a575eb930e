package host

import (
	"math"

	"github.com/kvasir-engine/kvasir/gpu"
)

// Products of quantised weights round activations to 8 bit, by blocks of 32 columns, and multiply whole numbers: a block's product is exact, and float32 begins with its
// scales. An output is
//
//	acc = 0
//	for each block of 32 columns, in ascending order:
//		acc = acc + float32(p)*x.scale*w.scale	from left to right, each product and sum rounded
//		acc = acc - w.minimum*x.total		where the type has minima
//
// in which p is the sum of products of the block's whole numbers, where the type has them times the whole scales of its halves. All sets
// do this, and so have the same bits.

const (
	recordElems = 32
	stripRows   = 8 // rows of a weight that are multiplied together
)

// record is 32 activations: element i is scale*values[i]. asm/integer.go knows this layout.
type record struct {
	values [recordElems]int8 // -127 to 127
	scale  float32           // the largest magnitude / 127; not a number if an activation is none or infinite, 0 if all are below 2^-100
	sums   [2]int16          // of the first and of the last 16 values
	sum    int32             // of all values
	total  float32           // scale*sum
}

// quantise encodes x: its block i is dst[i*stride].
func quantise(dst []record, stride int, x []float32) {
	for i := 0; len(x) >= recordElems; i += stride {
		dst[i].encode((*[recordElems]float32)(x))
		x = x[recordElems:]
	}
}

func (r *record) encode(x *[recordElems]float32) {
	var largest uint32 // magnitude, compared as a whole number: what is not a number is larger than all that are
	for _, v := range x {
		largest = max(largest, math.Float32bits(v)&^(1<<31))
	}
	top := math.Float32frombits(largest)
	if top < 0x1p-100 {
		*r = record{}
		return
	}
	scale, factor := top/127+(top-top), 127/top // top-top: 0, or not a number
	var sums [2]int16
	for i, v := range x {
		q := nearest(float32(v * factor))
		r.values[i] = q
		sums[i/16] += int16(q)
	}
	r.scale, r.sums, r.sum = scale, sums, int32(sums[0])+int32(sums[1])
	r.total = scale * float32(r.sum)
}

// nearest rounds to the nearest whole number, ties to even. The addition leaves no bits for a fraction.
func nearest(v float32) int8 {
	const bias = 3 << 22
	return int8(math.Float32bits(v+bias) - 0x4b400000)
}

// block is 32 elements of a quantised weight: element i is scale*parts[i/16]*values[i] - minimum.
type block struct {
	values         [recordElems]int8
	parts          [2]int32
	scale, minimum float32
}

// addProduct returns acc with the product of b and x added.
func (b *block) addProduct(acc float32, x *record) float32 {
	var p [2]int32
	for i := range recordElems / 2 {
		p[0] += int32(b.values[i]) * int32(x.values[i])
		p[1] += int32(b.values[i+16]) * int32(x.values[i+16])
	}
	acc += float32(float32(float32(p[0]*b.parts[0]+p[1]*b.parts[1])*x.scale) * b.scale)
	return acc - float32(b.minimum*x.total)
}

// blockReader returns block i of a row.
type blockReader func(row []byte, i int) block

// product adds to acc[r][i] the product of row i of w and row r of x: count rows of w, at most stripRows, that begin rowBytes apart. x holds, block by block of
// columns, a record for each row.
type product func(acc [][stripRows]float32, w []byte, rowBytes, count int, x []record)

func (read blockReader) product(acc [][stripRows]float32, w []byte, rowBytes, count int, x []record) {
	for i := range count {
		for j := range len(x) / len(acc) {
			b := read(w[i*rowBytes:], j)
			records := x[j*len(acc) : (j+1)*len(acc)]
			for r := range records {
				acc[r][i] = b.addProduct(acc[r][i], &records[r])
			}
		}
	}
}

// goProducts are the products in plain Go.
func goProducts() map[gpu.Type]product {
	products := map[gpu.Type]product{}
	for t, read := range blockReaders() {
		products[t] = read.product
	}
	return products
}
