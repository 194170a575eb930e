// Code generated from gpu/host/asm by "go generate ./gpu/host". DO NOT EDIT.

//go:build amd64

package host

// asmDotsF32_4x1 multiplies rows of w, which are rowBytes apart, with rows of x: 4 and 1 rows of n elements.
//
//go:noescape
func asmDotsF32_4x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF32_1x1 multiplies rows of w, which are rowBytes apart, with rows of x: 1 and 1 rows of n elements.
//
//go:noescape
func asmDotsF32_1x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF32_4x2 multiplies rows of w, which are rowBytes apart, with rows of x: 4 and 2 rows of n elements.
//
//go:noescape
func asmDotsF32_4x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF32_1x2 multiplies rows of w, which are rowBytes apart, with rows of x: 1 and 2 rows of n elements.
//
//go:noescape
func asmDotsF32_1x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF32_4x3 multiplies rows of w, which are rowBytes apart, with rows of x: 4 and 3 rows of n elements.
//
//go:noescape
func asmDotsF32_4x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF32_1x3 multiplies rows of w, which are rowBytes apart, with rows of x: 1 and 3 rows of n elements.
//
//go:noescape
func asmDotsF32_1x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF16_4x1 multiplies rows of w, which are rowBytes apart, with rows of x: 4 and 1 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsF16_4x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF16_1x1 multiplies rows of w, which are rowBytes apart, with rows of x: 1 and 1 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsF16_1x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF16_4x2 multiplies rows of w, which are rowBytes apart, with rows of x: 4 and 2 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsF16_4x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF16_1x2 multiplies rows of w, which are rowBytes apart, with rows of x: 1 and 2 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsF16_1x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF16_4x3 multiplies rows of w, which are rowBytes apart, with rows of x: 4 and 3 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsF16_4x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsF16_1x3 multiplies rows of w, which are rowBytes apart, with rows of x: 1 and 3 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsF16_1x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDecodeF16 decodes blocks of 8 elements.
//
//go:noescape
func asmDecodeF16(dst *float32, src *byte, blocks int)

// asmDotsBF16_4x1 multiplies rows of w, which are rowBytes apart, with rows of x: 4 and 1 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsBF16_4x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsBF16_1x1 multiplies rows of w, which are rowBytes apart, with rows of x: 1 and 1 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsBF16_1x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsBF16_4x2 multiplies rows of w, which are rowBytes apart, with rows of x: 4 and 2 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsBF16_4x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsBF16_1x2 multiplies rows of w, which are rowBytes apart, with rows of x: 1 and 2 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsBF16_1x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsBF16_4x3 multiplies rows of w, which are rowBytes apart, with rows of x: 4 and 3 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsBF16_4x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDotsBF16_1x3 multiplies rows of w, which are rowBytes apart, with rows of x: 1 and 3 rows of n elements, a multiple of 8.
//
//go:noescape
func asmDotsBF16_1x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// asmDecodeBF16 decodes blocks of 8 elements.
//
//go:noescape
func asmDecodeBF16(dst *float32, src *byte, blocks int)

// asmAddDots_1x1 multiplies n elements of rows of w, which are wStride apart, with rows of x, xStride apart: 1 and 1 rows.
//
//go:noescape
func asmAddDots_1x1(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)

// asmAddDots_1x2 multiplies n elements of rows of w, which are wStride apart, with rows of x, xStride apart: 1 and 2 rows.
//
//go:noescape
func asmAddDots_1x2(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)

// asmAddDots_1x3 multiplies n elements of rows of w, which are wStride apart, with rows of x, xStride apart: 1 and 3 rows.
//
//go:noescape
func asmAddDots_1x3(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)

// asmSumLanes_1 adds up the lanes of 1 accumulators for each of n rows of out.
//
//go:noescape
func asmSumLanes_1(out *float32, stride int, acc *float32, n int)

// asmAddDots_4x1 multiplies n elements of rows of w, which are wStride apart, with rows of x, xStride apart: 4 and 1 rows.
//
//go:noescape
func asmAddDots_4x1(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)

// asmAddDots_4x2 multiplies n elements of rows of w, which are wStride apart, with rows of x, xStride apart: 4 and 2 rows.
//
//go:noescape
func asmAddDots_4x2(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)

// asmAddDots_4x3 multiplies n elements of rows of w, which are wStride apart, with rows of x, xStride apart: 4 and 3 rows.
//
//go:noescape
func asmAddDots_4x3(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)

// asmSumLanes_4 adds up the lanes of 4 accumulators for each of n rows of out.
//
//go:noescape
func asmSumLanes_4(out *float32, stride int, acc *float32, n int)

// asmQuantise encodes blocks of 32 activations as records, which are stride bytes apart.
//
//go:noescape
func asmQuantise(dst *byte, stride int, x *float32, blocks int)

// asmProductQ8_0 adds to rows vectors at acc, of 8 lanes, the products of 8 rows of w, which are rowBytes apart, with rows of x: blocks of 32 elements. x holds a record for each row of the first 32 columns, then of the next.
//
//go:noescape
func asmProductQ8_0(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)

// asmProductQ4_0 adds to rows vectors at acc, of 8 lanes, the products of 8 rows of w, which are rowBytes apart, with rows of x: blocks of 32 elements. x holds a record for each row of the first 32 columns, then of the next.
//
//go:noescape
func asmProductQ4_0(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)

// asmProductQ4_1 adds to rows vectors at acc, of 8 lanes, the products of 8 rows of w, which are rowBytes apart, with rows of x: blocks of 32 elements. x holds a record for each row of the first 32 columns, then of the next.
//
//go:noescape
func asmProductQ4_1(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)

// asmProductQ5_0 adds to rows vectors at acc, of 8 lanes, the products of 8 rows of w, which are rowBytes apart, with rows of x: blocks of 32 elements. x holds a record for each row of the first 32 columns, then of the next.
//
//go:noescape
func asmProductQ5_0(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)

// asmProductQ5_1 adds to rows vectors at acc, of 8 lanes, the products of 8 rows of w, which are rowBytes apart, with rows of x: blocks of 32 elements. x holds a record for each row of the first 32 columns, then of the next.
//
//go:noescape
func asmProductQ5_1(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)

// asmProductQ4_K adds to rows vectors at acc, of 8 lanes, the products of 8 rows of w, which are rowBytes apart, with rows of x: blocks of 256 elements. x holds a record for each row of the first 32 columns, then of the next.
//
//go:noescape
func asmProductQ4_K(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)

// asmProductQ5_K adds to rows vectors at acc, of 8 lanes, the products of 8 rows of w, which are rowBytes apart, with rows of x: blocks of 256 elements. x holds a record for each row of the first 32 columns, then of the next.
//
//go:noescape
func asmProductQ5_K(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)

// asmProductQ6_K adds to rows vectors at acc, of 8 lanes, the products of 8 rows of w, which are rowBytes apart, with rows of x: blocks of 256 elements. x holds a record for each row of the first 32 columns, then of the next.
//
//go:noescape
func asmProductQ6_K(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)

// asmEncodeHalf rounds blocks of 8 elements to the nearest half, ties to even.
//
//go:noescape
func asmEncodeHalf(dst *byte, src *float32, blocks int)

// asmMix_3x4 adds n rows of v, each times an element of p, to out: 3 rows of 32 columns.
//
//go:noescape
func asmMix_3x4(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)

// asmMix_2x4 adds n rows of v, each times an element of p, to out: 2 rows of 32 columns.
//
//go:noescape
func asmMix_2x4(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)

// asmMix_1x8 adds n rows of v, each times an element of p, to out: 1 rows of 64 columns.
//
//go:noescape
func asmMix_1x8(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)

// asmMix_1x4 adds n rows of v, each times an element of p, to out: 1 rows of 32 columns.
//
//go:noescape
func asmMix_1x4(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)

// asmMix_1x1 adds n rows of v, each times an element of p, to out: 1 rows of 8 columns.
//
//go:noescape
func asmMix_1x1(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)

// asmMixTail adds n rows of v, each times an element of p, to out: less than 8 columns.
//
//go:noescape
func asmMixTail(out *float32, columns int, p *float32, v *float32, vStride int, n int)

// asmTurnF32 turns 8 rows of src, which are srcBytes apart, of blocks of 8 columns, into rows of dst, dstBytes apart.
//
//go:noescape
func asmTurnF32(dst *float32, dstBytes int, src *byte, srcBytes int, blocks int)

// asmTurnF16 turns 8 rows of src, which are srcBytes apart, of blocks of 8 columns, into rows of dst, dstBytes apart.
//
//go:noescape
func asmTurnF16(dst *float32, dstBytes int, src *byte, srcBytes int, blocks int)

// asmScaleMax does x *= scale and returns the largest of the results.
//
//go:noescape
func asmScaleMax(x *float32, n int, scale float32) float32

// asmExpSum replaces x by e^(x-highest) and adds element i of these to sums[i%8], in ascending order.
//
//go:noescape
func asmExpSum(x *float32, n int, highest float32, sums *[8]float32)

// asmAdd does x += y.
//
//go:noescape
func asmAdd(x *float32, y *float32, n int)

// asmScale does x *= factor.
//
//go:noescape
func asmScale(x *float32, n int, factor float32)

// asmScaleBy sets out = (x * factor) * w. out may be x.
//
//go:noescape
func asmScaleBy(out *float32, x *float32, w *float32, n int, factor float32)

// asmSwiGLU does gate = gate / (1 + e^-gate) * up.
//
//go:noescape
func asmSwiGLU(gate *float32, up *float32, n int)

// asmRotateNeox turns blocks of 8 pairs, which lie in two runs.
//
//go:noescape
func asmRotateNeox(low *float32, high *float32, cos *float32, sin *float32, blocks int)

// asmRotateNorm turns blocks of 4 pairs of neighbours.
//
//go:noescape
func asmRotateNorm(x *float32, cos *float32, sin *float32, blocks int)
