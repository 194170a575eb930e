package shm

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/kvasir-engine/kvasir/transport"
)

// seals: nobody makes the file shorter, so that no reader is killed by SIGBUS; nobody but the mapping that is there already writes it; nobody changes that.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_FUTURE_WRITE | unix.F_SEAL_SEAL

// NewSlab allocates zeroed memory that peers on this machine can map. The caller owns it and gives it back by Free.
func NewSlab(pages, pageBytes int) (transport.Slab, error) {
	if pages <= 0 || pageBytes <= 0 || pages > int(^uint(0)>>1)/pageBytes {
		return transport.Slab{}, fmt.Errorf("shm: there is no slab of %d pages of %d bytes", pages, pageBytes)
	}
	bytes := pages * pageBytes
	fd, err := unix.MemfdCreate("kvasir pages", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return transport.Slab{}, fmt.Errorf("shm: make a memory file: %w", err)
	}
	file := os.NewFile(uintptr(fd), "kvasir pages")
	if err := unix.Ftruncate(fd, int64(bytes)); err != nil {
		file.Close()
		return transport.Slab{}, fmt.Errorf("shm: a memory file of %d bytes: %w", bytes, err)
	}
	b, err := unix.Mmap(fd, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		file.Close()
		return transport.Slab{}, fmt.Errorf("shm: map %d bytes: %w", bytes, err)
	}
	unix.Madvise(b, unix.MADV_HUGEPAGE) // faster where the kernel allows it for shared memory
	slab := transport.Slab{Bytes: b, PageBytes: pageBytes, File: file}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return transport.Slab{}, errors.Join(fmt.Errorf("shm: seal a memory file (needs Linux 5.1): %w", err), Free(slab))
	}
	return slab, nil
}

// Free gives back what NewSlab allocated. Peers that still have it mapped keep it alive for themselves.
func Free(slab transport.Slab) error {
	return errors.Join(unix.Munmap(slab.Bytes), slab.File.Close())
}

// checkFile says whether file is a memory file of so many bytes which neither side can make unsafe for the other.
func checkFile(file *os.File, bytes int64) error {
	have, err := unix.FcntlInt(file.Fd(), unix.F_GET_SEALS, 0)
	if err != nil || have&seals != seals {
		return fmt.Errorf("it is not a sealed memory file (seals %#x, must have %#x)", have, seals)
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != bytes {
		return fmt.Errorf("the memory file has %d bytes, must have %d", info.Size(), bytes)
	}
	return nil
}
