package host

import "encoding/binary"

// dot is the sum of a[i]*b[i]. Element i goes to sum i mod 8, in ascending order; the eight sums are added as a tree at the end.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		s0 += float32(a[0] * b[0])
		s1 += float32(a[1] * b[1])
		s2 += float32(a[2] * b[2])
		s3 += float32(a[3] * b[3])
		s4 += float32(a[4] * b[4])
		s5 += float32(a[5] * b[5])
		s6 += float32(a[6] * b[6])
		s7 += float32(a[7] * b[7])
		a, b = a[8:], b[8:]
	}
	if len(a) > 0 {
		tail := [8]float32{s0, s1, s2, s3, s4, s5, s6, s7}
		for i, v := range a {
			tail[i&7] += float32(v * b[i])
		}
		s0, s1, s2, s3, s4, s5, s6, s7 = tail[0], tail[1], tail[2], tail[3], tail[4], tail[5], tail[6], tail[7]
	}
	return addLanes(&[8]float32{s0, s1, s2, s3, s4, s5, s6, s7})
}

// addLanes is the tree that ends a sum.
func addLanes(s *[8]float32) float32 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

func dots(out []float32, stride int, w, x []float32, n int) {
	for j := range len(x) / n {
		row := x[j*n : (j+1)*n]
		for i := range len(w) / n {
			out[j*stride+i] = dot(w[i*n:(i+1)*n], row)
		}
	}
}

func mix(out, p []float32, stride int, v []float32, n int) {
	count := len(v) / n
	for j := range len(out) / n {
		mixRow(out[j*n:(j+1)*n], p[j*stride:j*stride+count], v)
	}
}

func mixRow(out, p, v []float32) {
	n := len(out)
	for len(p) >= 4 && len(v) >= 4*n { // four rows in one pass over out, still added one after the other
		p0, p1, p2, p3 := p[0], p[1], p[2], p[3]
		v0, v1, v2, v3 := v[:n], v[n:2*n], v[2*n:3*n], v[3*n:4*n]
		for i, o := range out {
			o += float32(p0 * v0[i])
			o += float32(p1 * v1[i])
			o += float32(p2 * v2[i])
			o += float32(p3 * v3[i])
			out[i] = o
		}
		p, v = p[4:], v[4*n:]
	}
	for _, weight := range p {
		row := v[:n]
		for i := range out {
			out[i] += float32(weight * row[i])
		}
		v = v[n:]
	}
}

func turn(dst, src []float32, n int) {
	for j := range len(src) / n {
		for i, v := range src[j*n : (j+1)*n] {
			dst[i*keyStride+j] = v
		}
	}
}

func turnHalf(dst []float32, src []byte, n int) {
	for j := range len(src) / 2 / n {
		for i := range n {
			dst[i*keyStride+j] = halfToFloat(binary.LittleEndian.Uint16(src[2*(j*n+i):]))
		}
	}
}

func scores(out, q, keys []float32, dim, n int) {
	for j := range len(q) / dim {
		row := out[j*scoreStride:][:n]
		clear(row)
		for i, v := range q[j*dim : (j+1)*dim] {
			for e, k := range keys[i*keyStride:][:n] {
				row[e] += float32(v * k)
			}
		}
	}
}
