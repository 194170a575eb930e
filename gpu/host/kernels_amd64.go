package host

import (
	"encoding/binary"
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/kvasir-engine/kvasir/gpu"
)

// machineKernels are the sets beside the generic one that this processor can run.
func machineKernels() []*kernels {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C {
		return []*kernels{avx2Kernels()}
	}
	return nil
}

// avx2Kernels is the set for vectors of 8 float32 with fused multiply-add. Functions that begin with asm are generated (see folder asm) and check nothing: those
// here do, and divide the work into calls that are short enough not to hold up the garbage collector.
func avx2Kernels() *kernels {
	return &kernels{
		name:         "avx2",
		worthSharing: 256 << 10,
		dequantise:   avx2Decoders(),
		fromHalf:     avx2DecodeHalf,
		toHalf:       avx2EncodeHalf,
		products:     avx2Products(),
		quantise:     avx2Quantise,
		dots:         avx2Dots(),
		addDots:      avx2AddDots,
		sumLanes:     avx2SumLanes,
		partsFrom:    3 << 19, // 6 MiB
		dotsOf: map[gpu.Type]func([]float32, int, []byte, []float32, int){
			gpu.F16: dotTiles{1, 2, [4]dotTile{1: asmDotsF16_4x1, 2: asmDotsF16_4x2, 3: asmDotsF16_4x3},
				[4]dotTile{1: asmDotsF16_1x1, 2: asmDotsF16_1x2, 3: asmDotsF16_1x3}}.dots,
			gpu.BF16: dotTiles{1, 2, [4]dotTile{1: asmDotsBF16_4x1, 2: asmDotsBF16_4x2, 3: asmDotsBF16_4x3},
				[4]dotTile{1: asmDotsBF16_1x1, 2: asmDotsBF16_1x2, 3: asmDotsBF16_1x3}}.dots,
		},
		mix:          avx2Mix,
		fewRows:      map[gpu.Type]int{gpu.F16: 16, gpu.BF16: 16},
		turn:         avx2Turn,
		turnHalf:     avx2TurnHalf,
		scores:       avx2Scores,
		exponentials: avx2Exponentials,
		scale:        avx2Scale,
		rmsNorm:      avx2RMSNorm,
		rotateNorm:   avx2RotateNorm,
		rotateNeox:   avx2RotateNeox,
		add:          avx2Add,
		swiglu:       avx2SwiGLU,
	}
}

func avx2Quantise(dst []record, stride int, x []float32) {
	if blocks := len(x) / recordElems; blocks > 0 {
		_ = dst[(blocks-1)*stride]
		asmQuantise((*byte)(unsafe.Pointer(&dst[0])), stride*int(unsafe.Sizeof(record{})), &x[0], blocks)
	}
}

// avx2Products multiply whole strips; what is left at the end of a weight is left to plain Go, which gives the same bits.
func avx2Products() map[gpu.Type]product {
	products := goProducts()
	for t, multiply := range map[gpu.Type]func(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int){
		gpu.Q8_0: asmProductQ8_0,
		gpu.Q4_0: asmProductQ4_0,
		gpu.Q4_1: asmProductQ4_1,
		gpu.Q5_0: asmProductQ5_0,
		gpu.Q5_1: asmProductQ5_1,
		gpu.Q4_K: asmProductQ4_K,
		gpu.Q5_K: asmProductQ5_K,
		gpu.Q6_K: asmProductQ6_K,
	} {
		elems, bytes := t.Block()
		rest := products[t]
		products[t] = func(acc [][stripRows]float32, w []byte, rowBytes, count int, x []record) {
			if count < stripRows || len(x) == 0 {
				rest(acc, w, rowBytes, count, x)
				return
			}
			blocks := len(x) / len(acc) * recordElems / elems
			_ = w[(stripRows-1)*rowBytes+blocks*bytes-1]
			multiply(&acc[0][0], &w[0], rowBytes, (*byte)(unsafe.Pointer(&x[0])), len(acc), blocks)
		}
	}
	return products
}

// dotTile multiplies a fixed number of rows of w with a fixed number of rows of x.
type dotTile func(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)

// dotTiles are the tiles of an encoding of w, by their number of rows of x.
type dotTiles struct {
	elems, bytes int // of a block
	four, one    [4]dotTile
}

// dots covers the product with tiles. A tile of w is used for all rows of x while it is near.
func (t dotTiles) dots(out []float32, stride int, w []byte, x []float32, n int) {
	rowBytes := n / t.elems * t.bytes
	ws, xs := len(w)/rowBytes, len(x)/n
	if ws == 0 || xs == 0 {
		return
	}
	_ = out[(xs-1)*stride+ws-1]
	for i := 0; i < ws; {
		tiles, height := &t.four, 4
		if ws-i < 4 {
			tiles, height = &t.one, 1
		}
		for j := 0; j < xs; {
			width := tileWidth(xs - j)
			if tiles[width] == nil {
				width = 2
			}
			tiles[width](&out[j*stride+i], stride, &w[i*rowBytes], rowBytes, &x[j*n], n)
			j += width
		}
		i += height
	}
}

// tileWidth is the number of rows that the next tile takes of those left.
func tileWidth(left int) int {
	if left == 4 {
		return 2 // two tiles of 2 are faster than 3 and 1
	}
	return min(3, left)
}

// avx2AddDots keeps the accumulators of 4 rows of w beside each other for each row of x, and so on for the next 4 rows of w.
func avx2AddDots(acc []float32, w, x strided, n int) {
	four := [4]func(acc *float32, w *float32, wStride int, x *float32, xStride int, n int){1: asmAddDots_4x1, 2: asmAddDots_4x2, 3: asmAddDots_4x3}
	one := [4]func(acc *float32, w *float32, wStride int, x *float32, xStride int, n int){1: asmAddDots_1x1, 2: asmAddDots_1x2, 3: asmAddDots_1x3}
	if w.rows == 0 || x.rows == 0 || n == 0 {
		return
	}
	_, _, _ = acc[8*w.rows*x.rows-1], w.data[(w.rows-1)*w.stride+n-1], x.data[(x.rows-1)*x.stride+n-1]
	for i := 0; i < w.rows; {
		tiles, height := &four, 4
		if w.rows-i < 4 {
			tiles, height = &one, 1
		}
		for j := 0; j < x.rows; {
			width := tileWidth(x.rows - j)
			tiles[width](&acc[8*(i*x.rows+j*height)], &w.data[i*w.stride], w.stride, &x.data[j*x.stride], x.stride, n)
			j += width
		}
		i += height
	}
}

func avx2SumLanes(out []float32, stride int, acc []float32, ws, xs int) {
	if ws == 0 || xs == 0 {
		return
	}
	_, _ = out[(xs-1)*stride+ws-1], acc[8*ws*xs-1]
	for i := 0; i < ws; {
		sum, height := asmSumLanes_4, 4
		if ws-i < 4 {
			sum, height = asmSumLanes_1, 1
		}
		sum(&out[i], stride, &acc[8*i*xs], xs)
		i += height
	}
}

func avx2Dots() func(out []float32, stride int, w, x []float32, n int) {
	t := dotTiles{1, 4, [4]dotTile{1: asmDotsF32_4x1, 2: asmDotsF32_4x2, 3: asmDotsF32_4x3}, [4]dotTile{1: asmDotsF32_1x1, 2: asmDotsF32_1x2, 3: asmDotsF32_1x3}}
	return func(out []float32, stride int, w, x []float32, n int) { t.dots(out, stride, asBytes(w), x, n) }
}

// asBytes sees x as bytes.
func asBytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

func avx2Decoders() map[gpu.Type]func(dst []float32, src []byte) {
	decoders := goDecoders()
	decoders[gpu.F16], decoders[gpu.BF16] = avx2DecodeHalf, avx2DecodeBF16
	return decoders
}

func avx2DecodeHalf(dst []float32, src []byte) {
	src = src[:2*len(dst)]
	blocks := len(dst) / 8
	if blocks > 0 {
		asmDecodeF16(&dst[0], &src[0], blocks)
	}
	for i := 8 * blocks; i < len(dst); i++ {
		dst[i] = halfToFloat(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func avx2DecodeBF16(dst []float32, src []byte) {
	src = src[:2*len(dst)]
	blocks := len(dst) / 8
	if blocks > 0 {
		asmDecodeBF16(&dst[0], &src[0], blocks)
	}
	decodeBF16(dst[8*blocks:], src[16*blocks:])
}

func avx2EncodeHalf(dst []byte, src []float32) {
	dst = dst[:2*len(src)]
	blocks := len(src) / 8
	if blocks > 0 {
		asmEncodeHalf(&dst[0], &src[0], blocks)
	}
	encodeHalf(dst[16*blocks:], src[8*blocks:])
}

// mixTile adds to a fixed number of rows and columns of out.
type mixTile func(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)

// mixTiles are the tiles by their size: by their number of rows 32 columns wide, and for one row.
type mixTiles struct {
	wide  [4]mixTile
	row64 mixTile
	row8  mixTile
}

func avx2MixTiles() mixTiles {
	return mixTiles{[4]mixTile{1: asmMix_1x4, 2: asmMix_2x4, 3: asmMix_3x4}, asmMix_1x8, asmMix_1x1}
}

// mix covers columns, a multiple of 8, of out with tiles.
func (t mixTiles) mix(out strided, p []float32, stride int, v strided, columns int) {
	if out.rows == 0 || v.rows == 0 || columns == 0 {
		return
	}
	_, _, _ = p[(out.rows-1)*stride+v.rows-1], out.data[(out.rows-1)*out.stride+columns-1], v.data[(v.rows-1)*v.stride+columns-1]
	for j := 0; j < out.rows; {
		height := min(3, out.rows-j)
		if out.rows-j == 4 {
			height = 2
		}
		for c := 0; c < columns; {
			left := columns - c
			tile, width, high := t.wide[height], 32, height
			switch {
			case height == 1 && left >= 64:
				tile, width = t.row64, 64
			case left < 32:
				tile, width, high = t.row8, 8, 1
			}
			for i := j; i < j+height; i += high {
				tile(&out.data[i*out.stride+c], out.stride, &p[i*stride], stride, &v.data[c], v.stride, v.rows)
			}
			c += width
		}
		j += height
	}
}

func avx2Mix(out, p []float32, stride int, v []float32, n int) {
	rows, count, whole := len(out)/n, len(v)/n, n&^7
	avx2MixTiles().mix(strided{out, rows, n}, p, stride, strided{v, count, n}, whole)
	if whole == n || count == 0 {
		return
	}
	for j := range rows {
		weights := p[j*stride : j*stride+count]
		asmMixTail(&out[j*n+whole], n-whole, &weights[0], &v[whole], n, count)
	}
}

func avx2Scores(out, q, keys []float32, dim, n int) {
	columns := (n + 7) &^ 7
	rows := len(q) / dim
	for j := range rows {
		clear(out[j*scoreStride:][:columns])
	}
	avx2MixTiles().mix(strided{out, rows, scoreStride}, q, dim, strided{keys, dim, keyStride}, columns)
}

func avx2Turn(dst, src []float32, n int) {
	avx2TurnRows(asmTurnF32, dst, asBytes(src), 4*n, n)
	if n%8 != 0 || len(src)/n%8 != 0 {
		turnRest(dst, n, len(src)/n, func(j, i int) float32 { return src[j*n+i] })
	}
}

func avx2TurnHalf(dst []float32, src []byte, n int) {
	avx2TurnRows(asmTurnF16, dst, src, 2*n, n)
	if n%8 != 0 || len(src)/2/n%8 != 0 {
		turnRest(dst, n, len(src)/2/n, func(j, i int) float32 { return halfToFloat(binary.LittleEndian.Uint16(src[2*(j*n+i):])) })
	}
}

// avx2TurnRows turns whole squares of 8 rows and columns.
func avx2TurnRows(turn func(dst *float32, dstBytes int, src *byte, srcBytes int, blocks int), dst []float32, src []byte, rowBytes, n int) {
	for j := 0; j+8 <= len(src)/rowBytes && n >= 8; j += 8 {
		_ = dst[(n-1)*keyStride+j+7]
		turn(&dst[j], 4*keyStride, &src[j*rowBytes], rowBytes, n/8)
	}
}

// turnRest turns the elements of rows that are in no whole square.
func turnRest(dst []float32, n, rows int, at func(j, i int) float32) {
	for j := range rows {
		first := 0
		if j < rows&^7 {
			first = n &^ 7
		}
		for i := first; i < n; i++ {
			dst[i*keyStride+j] = at(j, i)
		}
	}
}

func avx2Exponentials(x []float32, scale float32) (highest, sum float32) {
	if len(x) == 0 {
		return float32(math.Inf(-1)), 0
	}
	var sums [8]float32
	highest = asmScaleMax(&x[0], len(x), scale)
	asmExpSum(&x[0], len(x), highest, &sums)
	return highest, addLanes(&sums)
}

func avx2Scale(x []float32, factor float32) {
	if len(x) > 0 {
		asmScale(&x[0], len(x), factor)
	}
}

func avx2RMSNorm(out, x, w []float32, eps float32) {
	n := len(x)
	if n == 0 {
		return
	}
	_, _ = out[n-1], w[n-1]
	var squares float32
	asmDotsF32_1x1(&squares, 1, &asBytes(x)[0], 4*n, &x[0], n)
	asmScaleBy(&out[0], &x[0], &w[0], n, normScale(squares, n, eps))
}

func avx2Add(x, y []float32) {
	if n := len(x); n > 0 {
		_ = y[n-1]
		asmAdd(&x[0], &y[0], n)
	}
}

func avx2SwiGLU(gate, up []float32) {
	if n := len(gate); n > 0 {
		_ = up[n-1]
		asmSwiGLU(&gate[0], &up[0], n)
	}
}

func avx2RotateNeox(x, cos, sin []float32) {
	pairs := len(cos)
	sin, low, high := sin[:pairs], x[:pairs], x[pairs:2*pairs]
	blocks := pairs / 8
	if blocks > 0 {
		asmRotateNeox(&low[0], &high[0], &cos[0], &sin[0], blocks)
	}
	for i := 8 * blocks; i < pairs; i++ {
		a, b := low[i], high[i]
		low[i] = float32(a*cos[i]) - float32(b*sin[i])
		high[i] = float32(a*sin[i]) + float32(b*cos[i])
	}
}

func avx2RotateNorm(x, cos, sin []float32) {
	pairs := len(cos)
	sin, x = sin[:pairs], x[:2*pairs]
	blocks := pairs / 4
	if blocks > 0 {
		asmRotateNorm(&x[0], &cos[0], &sin[0], blocks)
	}
	rotateNorm(x[8*blocks:], cos[4*blocks:], sin[4*blocks:])
}
