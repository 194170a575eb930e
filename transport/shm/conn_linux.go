package shm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

// view is a peer's slab, mapped here read-only.
type view struct{ transport.Slab }

func (v view) unmap() error {
	if v.Bytes == nil {
		return nil
	}
	return unix.Munmap(v.Bytes)
}

// receive shakes hands and maps the memory file that comes.
func receive(conn *net.UnixConn, key peer.Key, self page.Link, pageBytes int) (view, error) {
	said, err := peer.Dial(conn, peer.Secret{Name: "shm"}, key, self)
	if err != nil {
		return view{}, err
	}
	size, err := parseWelcome(said, pageBytes)
	if err != nil {
		return view{}, err
	}
	file, err := receiveFile(conn)
	if err != nil {
		return view{}, err
	}
	defer file.Close()
	if err := checkFile(file, size); err != nil {
		return view{}, err
	}
	b, err := unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return view{}, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return view{transport.Slab{Bytes: b, PageBytes: pageBytes}}, nil
}

// receiveFile takes the one file that comes beside a byte.
func receiveFile(conn *net.UnixConn) (*os.File, error) {
	data, beside := make([]byte, 1), make([]byte, unix.CmsgSpace(8*4))
	n, nBeside, _, _, err := conn.ReadMsgUnix(data, beside)
	if err != nil {
		return nil, fmt.Errorf("the memory file does not come: %w", err)
	}
	var fds []int
	messages, err := unix.ParseSocketControlMessage(beside[:nBeside])
	for _, m := range messages {
		if got, err := unix.ParseUnixRights(&m); err == nil {
			fds = append(fds, got...)
		}
	}
	if err != nil || n != 1 || data[0] != sayFile || len(fds) != 1 {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return nil, errors.Join(err, fmt.Errorf("%w: %d files beside %q, must be one beside %q", peer.ErrMalformed, len(fds), data[:n], sayFile))
	}
	return os.NewFile(uintptr(fds[0]), "a peer's pages"), nil
}

// newConn starts to copy pages of far. It unmaps far, and says so to the peer, when nobody copies any more.
func newConn(link page.Link, slab transport.Slab, far view, conn *net.UnixConn, copiers int) transport.Conn {
	q := peer.NewReads(link, slab, func() { conn.SetReadDeadline(time.Unix(1, 0)) }) // ends hear
	var copying sync.WaitGroup
	copying.Add(copiers)
	q.Copy(copiers, func(r transport.Read) error {
		if !far.Has(r.Src.Page) {
			return fmt.Errorf("%w: page %d of %d", transport.ErrRefused, r.Src.Page, far.Pages())
		}
		copy(slab.Page(r.Dst), far.Page(r.Src.Page))
		return nil
	}, copying.Done)
	q.Go(func() {
		why := errors.New("the peer has ended the link")
		if err := hear(conn, sayUnmap); err != nil {
			why = err
		}
		q.Fail(fmt.Errorf("%w: %w", transport.ErrClosed, why))
		copying.Wait()
		if err := far.unmap(); err != nil {
			panic(fmt.Sprintf("shm: a view cannot be unmapped: %v", err)) // then the peer may hear nothing of it
		}
		letGo(conn)
	})
	return q
}

// letGo tells the peer that nothing of its slab is mapped here, nor will be. Where that fails the peer is gone.
func letGo(conn *net.UnixConn) {
	conn.SetDeadline(time.Now().Add(time.Second))
	conn.Write([]byte{sayUnmapped})
	conn.Close()
}
