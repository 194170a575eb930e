package host

import "github.com/kvasir-engine/kvasir/gpu"

// kernels is a set of functions that do the arithmetic of the device's operations. Sets may differ from each other in rounding; one set always gives the same bits
// for the same arguments. Slices never overlap unless said so.
type kernels struct {
	name string

	// dequantise decodes a row: dst[i] is element i of src. Exactly as ggml does it.
	dequantise map[gpu.Type]func(dst []float32, src []byte)
	// fromHalf and toHalf convert between float32 and IEEE half precision, rounding to nearest even.
	fromHalf func(dst []float32, src []byte)
	toHalf   func(dst []byte, src []float32)

	// dots sets out[i*stride] = a . (row i of b) for the len(b)/len(a) rows of b.
	dots func(out []float32, stride int, a, b []float32)
	// mix does out += p[0]*(row 0 of v) + p[1]*(row 1 of v) + ..., adding the rows in this order.
	mix func(out, p, v []float32)
	// softmax replaces scores x by exp(x - max(x)) and returns the sum of these, added in order.
	softmax func(x []float32) float32
	// rmsNorm sets out = x / sqrt(mean(x^2) + eps) * w. out may be x.
	rmsNorm func(out, x, w []float32, eps float32)
	// rotate turns the pairs of a head in place by the angles whose cosines and sines are given.
	rotateNorm, rotateNeox func(x, cos, sin []float32)
	// add does x += y.
	add func(x, y []float32)
	// swiglu does gate = silu(gate) * up.
	swiglu func(gate, up []float32)
}

// goKernels is the set in plain Go. Its exp and its sums are the same on every processor; rotary angles come from the standard library's Cos and Sin, whose
// last bit in float64 may differ between architectures and is rounded away in all but very rare cases.
func goKernels() *kernels {
	return &kernels{
		name: "go",
		dequantise: map[gpu.Type]func([]float32, []byte){
			gpu.F32:  decodeF32,
			gpu.F16:  decodeHalf,
			gpu.BF16: decodeBF16,
			gpu.Q8_0: decodeQ8_0,
			gpu.Q4_0: decodeQ4_0,
		},
		fromHalf:   decodeHalf,
		toHalf:     encodeHalf,
		dots:       dots,
		mix:        mix,
		softmax:    softmax,
		rmsNorm:    rmsNorm,
		rotateNorm: rotateNorm,
		rotateNeox: rotateNeox,
		add:        add,
		swiglu:     swiglu,
	}
}
