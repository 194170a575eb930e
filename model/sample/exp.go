package sample

import "math"

// weight is exp(x) for x in (-708, 0], and 0 for every other x, NaN and the infinities included: below -708 the
// value is under 2^-1021 of the largest token's.
//
// math.Exp differs in its last bit between processors; this function does not, since it is made of single IEEE 754
// operations. It writes x = (16 k' + j) ln2/16 + r, takes 2^(j/16) from a table and exp(r) from its Taylor series up to r^7, where
// |r| <= ln2/32 leaves a relative error under 3e-18 (Tang 1989 describes the method).
func weight(x float64) float64 {
	if !(x > -708 && x <= 0) {
		return 0
	}
	const (
		invStep = 0x1.71547652b82fep+4  // 16/ln2
		stepHi  = 0x1.62e42feep-5       // the first 32 bits of ln2/16: its product with k is exact
		stepLo  = 0x1.a39ef35793c76p-37 // ln2/16 - stepHi
	)
	k := int64(float64(x*invStep) - 0.5)
	r := x - float64(float64(k)*stepHi) - float64(float64(k)*stepLo)

	// Estrin's scheme: pairs of terms need not wait for each other. The conversions forbid the compiler to fuse a product and a sum.
	r2 := float64(r * r)
	p := 1.0/720 + float64(r*(1.0/5040))
	p = (1.0/24 + float64(r*(1.0/120))) + float64(r2*p)
	p = (1.0/2 + float64(r*(1.0/6))) + float64(r2*p)
	p = (1 + r) + float64(r2*p)
	return float64(sixteenthPowers[k&15]*p) * math.Float64frombits(uint64(1023+k>>4)<<52)
}

// sixteenthPowers[j] is 2^(j/16). Only read.
var sixteenthPowers = [16]float64{
	0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
	0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
	0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
	0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
}
