//go:build !amd64

package host

// machineKernels are the sets beside the generic one: none for this architecture.
func machineKernels() []*kernels { return nil }
