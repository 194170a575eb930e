package host

import (
	"fmt"
	"strings"

	"github.com/kvasir-engine/kvasir/gpu"
)

//go:generate asm/generate.sh .

// KernelsVariable is the environment variable that may name the kernel set to use: "avx2" (amd64 with AVX2, FMA and F16C) or "generic" (plain Go, on every
// machine). Without it the best one is taken. These round activations to 8 bit before they are multiplied with quantised weights; "avx2-f32" and "generic-f32" keep them in
// float32, which is slower and is there to compare with.
const KernelsVariable = "KVASIR_CPU"

// kernels is a set of functions that do the arithmetic of the device's operations. Sets may differ from each other in rounding; one set always gives the same bits
// for the same arguments. Slices never overlap unless said so. Each element of a result
// depends on its own row alone, whatever rows are beside it.
type kernels struct {
	name string
	// worthSharing is the cost, in multiplications or so, from which on an operation is spread over the workers: what is done faster than a thread wakes stays on the
	// calling one.
	worthSharing int

	// dequantise decodes a row: dst[i] is element i of src. Exactly as ggml does it.
	dequantise map[gpu.Type]func(dst []float32, src []byte)
	// fromHalf and toHalf convert between float32 and IEEE half precision, rounding to nearest even.
	fromHalf func(dst []float32, src []byte)
	toHalf   func(dst []byte, src []float32)

	// products are what multiplies weights of a type in whole numbers, and quantise what makes activations so (see quantise.go). A type without one is decoded and multiplied
	// by dots.
	products map[gpu.Type]product
	quantise func(dst []record, stride int, x []float32)

	// dots sets out[j*stride+i] = (row i of w) . (row j of x). Rows have n elements.
	dots func(out []float32, stride int, w, x []float32, n int)
	// dotsOf is dots of rows as they are encoded, with the same bits as dots of the decoded rows. n is a multiple of 8. A set may lack it.
	dotsOf map[gpu.Type]func(out []float32, stride int, w []byte, x []float32, n int)
	// fewRows is up to how many rows of activations dotsOf is faster than decoding weights first.
	fewRows map[gpu.Type]int
	// addDots and sumLanes are dots of long rows in parts, with the same bits as dots: addDots takes n more columns into acc, which holds 8 floats for each row of w and
	// row of x, zero at first; sumLanes sets out[j*stride+i] from them. Columns before the last part are a multiple of 8. A set may lack both.
	addDots  func(acc []float32, w, x strided, n int)
	sumLanes func(out []float32, stride int, acc []float32, ws, xs int)
	// partsFrom is from how many activations on products go in parts.
	partsFrom int
	// mix does (row j of out) += p[j*stride]*(row 0 of v) + p[j*stride+1]*(row 1 of v) + ..., adding the rows in this order. Rows of out and v have n elements.
	mix func(out, p []float32, stride int, v []float32, n int)
	// turn sets dst[i*keyStride+j] to element i of row j of src, whose rows have n elements. turnHalf is turn of rows in half precision.
	turn     func(dst, src []float32, n int)
	turnHalf func(dst []float32, src []byte, n int)
	// scores sets (row j of out)[i] = q[j*dim]*keys[i] + q[j*dim+1]*keys[keyStride+i] + ..., added in this order, for i < n. Rows of out are scoreStride apart; more of them
	// may be written, up to a multiple of 8.
	scores func(out, q, keys []float32, dim, n int)
	// exponentials replaces scores x by exp(x*scale-highest), where highest is the largest x*scale, and returns that and their sum.
	exponentials func(x []float32, scale float32) (highest, sum float32)
	// scale does x *= factor.
	scale func(x []float32, factor float32)
	// rmsNorm sets out = x / sqrt(mean(x^2) + eps) * w. out may be x.
	rmsNorm func(out, x, w []float32, eps float32)
	// rotate turns the pairs of a head in place by the angles whose cosines and sines are given.
	rotateNorm, rotateNeox func(x, cos, sin []float32)
	// add does x += y.
	add func(x, y []float32)
	// swiglu does gate = silu(gate) * up.
	swiglu func(gate, up []float32)
}

// strided is a number of rows, whose first elements are stride elements apart.
type strided struct {
	data         []float32
	rows, stride int
}

// kernelSets are the sets that this machine can run, the best first.
func kernelSets() []*kernels {
	sets := append(machineKernels(), goKernels())
	for _, k := range sets {
		exact := *k
		exact.name += exactSuffix
		exact.products = nil
		sets = append(sets, &exact)
	}
	return sets
}

// exactSuffix is what a set's name ends with that keeps activations in float32.
const exactSuffix = "-f32"

// RoundsActivations tells whether a kernel set rounds activations to 8 bit before it multiplies them with quantised weights.
func RoundsActivations(kernelSet string) bool { return !strings.HasSuffix(kernelSet, exactSuffix) }

// KernelSets names the kernel sets that this machine can run, the best first.
func KernelSets() (names []string) {
	for _, k := range kernelSets() {
		names = append(names, k.name)
	}
	return names
}

// chooseKernels returns the set of this name, or the best for an empty name.
func chooseKernels(name string) (*kernels, error) {
	sets := kernelSets()
	if name == "" {
		return sets[0], nil
	}
	for _, k := range sets {
		if k.name == name {
			return k, nil
		}
	}
	return nil, fmt.Errorf("host: %s is %q, but the kernel sets of this machine are: %s", KernelsVariable, name, strings.Join(KernelSets(), ", "))
}

// goKernels is the set in plain Go. Its exp and its sums are the same on every processor; rotary angles come from the standard library's Cos and Sin, whose
// last bit in float64 may differ between architectures and is rounded away in all but very rare cases.
func goKernels() *kernels {
	return &kernels{
		name:         "generic",
		worthSharing: 32 << 10,
		dequantise:   goDecoders(),
		fromHalf:     decodeHalf,
		toHalf:       encodeHalf,
		products:     goProducts(),
		quantise:     quantise,
		dots:         dots,
		mix:          mix,
		turn:         turn,
		turnHalf:     turnHalf,
		scores:       scores,
		exponentials: exponentials,
		scale:        scale,
		rmsNorm:      rmsNorm,
		rotateNorm:   rotateNorm,
		rotateNeox:   rotateNeox,
		add:          add,
		swiglu:       swiglu,
	}
}
