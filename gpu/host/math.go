package host

import "math"

// exp is e^x rounded to float32. It is written out, in float64 without fused products, so that it has the same bits on every processor; its relative error before
// the last rounding is below 1e-10, so all but a few results in 1000 are the correctly rounded ones and the rest are the neighbour.
func exp(x float32) float32 {
	switch {
	case x < -104: // below half of the smallest float32
		return 0
	case x > 89:
		return float32(math.Inf(1))
	case x != x:
		return x
	}
	// e^x = 2^n * e^r with |r| <= ln2/2; ln2 in two parts, the first short enough for n*ln2Hi to be exact.
	const ln2Hi, ln2Lo = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	n := math.Floor(float64(float64(x)*math.Log2E) + 0.5)
	r := (float64(x) - float64(n*ln2Hi)) - float64(n*ln2Lo)
	// Taylor polynomial by Horner's rule; the first term left out is r^10/10! < 7e-12.
	s := 1.0 / 362880
	s = float64(s*r) + 1.0/40320
	s = float64(s*r) + 1.0/5040
	s = float64(s*r) + 1.0/720
	s = float64(s*r) + 1.0/120
	s = float64(s*r) + 1.0/24
	s = float64(s*r) + 1.0/6
	s = float64(s*r) + 1.0/2
	s = float64(s*r) + 1
	s = float64(s*r) + 1
	return float32(s * math.Float64frombits(uint64(int64(n)+1023)<<52))
}

func exponentials(x []float32, factor float32) (highest, sum float32) {
	highest = float32(math.Inf(-1))
	for i := range x {
		x[i] *= factor
		highest = max(highest, x[i])
	}
	total := 0.0
	for i, v := range x {
		e := exp(v - highest)
		x[i] = e
		total += float64(e)
	}
	return highest, float32(total)
}

func scale(x []float32, factor float32) {
	for i := range x {
		x[i] *= factor
	}
}

// normScale is 1 / sqrt(squares/n + eps), where squares is the sum of n squares.
func normScale(squares float32, n int, eps float32) float32 {
	return float32(1 / math.Sqrt(float64(squares/float32(n)+eps)))
}

func rmsNorm(out, x, w []float32, eps float32) {
	scale := normScale(dot(x, x), len(x), eps)
	w, out = w[:len(x)], out[:len(x)]
	for i, v := range x {
		out[i] = float32(v*scale) * w[i]
	}
}

func add(x, y []float32) {
	y = y[:len(x)]
	for i := range x {
		x[i] += y[i]
	}
}

func swiglu(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = g / (1 + exp(-g)) * up[i]
	}
}
