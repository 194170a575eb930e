package host

import "github.com/kvasir-engine/kvasir/gpu"

// Bytes is the memory of a buffer of this device, for those who move or inspect it from outside: transports, and tests that tamper with pages. It is valid until the
// buffer is freed. It panics on a buffer of another device.
func Bytes(b gpu.Buffer) []byte { return bytesOf(b) }
