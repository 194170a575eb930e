// Package host is the CPU as a [gpu.Device].
//
// It has three layers. Operations (matmul.go, attention.go, rope.go, rows.go, pages.go) check their arguments and divide the work. The pool spreads it over a
// fixed set of goroutines. Kernels (kernels.go and the files it names) are small functions of slices that do the arithmetic; a table of them is chosen
// when the device is made.
//
// Every output element is computed whole by one kernel call in an order that depends on the shape of its own row alone, never on the number of rows,
// threads or slots of a page. So a row's result has the same bits alone, in a batch, in any chunking of a prompt and on any number of threads. Products are
// rounded to float32 (or float64) before they are added: the compiler must not fuse them, or platforms would differ.
//
// The host must be little-endian, as model files are.
//
// Operations panic on arguments that cannot be right (shapes that do not fit, positions outside of a table): these are bugs of the caller.
package host
