package host

import "golang.org/x/sys/unix"

// preferHuge asks for huge pages: weights excepted, what is large is read here and there, and looking up small pages takes longer than reading them. The kernel may refuse.
func preferHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
