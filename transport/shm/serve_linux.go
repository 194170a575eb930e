package shm

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kvasir-engine/kvasir/transport/internal/peer"
)

// After the welcome the exposing side sends 1 byte with the memory file beside it. Later each side says at most one byte more.
const (
	sayFile     = 'F' // here is the memory file
	sayUnmap    = 'U' // from the exposing side: let go of it
	sayUnmapped = 'D' // from the reading side: it is unmapped and closed
)

// serve hands the memory file to a peer, and returns when the peer has let go of it or is dead. Nothing else ends it.
func (e *exposed) serve(v *peer.Visitor) error {
	conn := v.Conn.(*net.UnixConn)
	death, err := watchPeer(conn)
	if err != nil {
		return err
	}
	defer death.Close()
	if err := v.Welcome(welcome(e.slab)); err != nil {
		return err
	}
	select {
	case <-v.Fenced:
		return net.ErrClosed
	default:
	}
	rights := unix.UnixRights(int(e.slab.File.Fd()))
	if _, _, err := conn.WriteMsgUnix([]byte{sayFile}, rights, nil); err != nil {
		return err // one byte and what is beside it go together, or not at all
	}
	return outlive(conn, death, v.Fenced)
}

// outlive is what follows once the peer may have the slab mapped. It waits for the peer's word that it has unmapped, or its death; when fenced is closed it asks for the word.
func outlive(conn *net.UnixConn, death *os.File, fenced <-chan struct{}) error {
	word, dead := make(chan error, 1), make(chan error, 1)
	go func() { word <- hear(conn, sayUnmapped) }()
	go func() { dead <- awaitDeath(death) }()
	defer func() { // both goroutines end before their files do
		conn.Close()
		death.Close()
		for word != nil || dead != nil {
			select {
			case <-word:
				word = nil
			case <-dead:
				dead = nil
			}
		}
	}()
	var broken error
	for {
		select {
		case err := <-word:
			word = nil
			if err == nil {
				return broken
			}
			broken, fenced = err, nil // it will say nothing more
			conn.Close()
		case err := <-dead:
			dead = nil
			if err == nil {
				return broken
			}
			panic(fmt.Sprintf("shm: a pidfd cannot be waited for: %v", err))
		case <-fenced:
			fenced = nil
			conn.SetWriteDeadline(time.Now().Add(time.Second))
			conn.Write([]byte{sayUnmap}) // if it fails the socket is broken, and hear says so
		}
	}
}

// hear waits for one byte, which must be want.
func hear(conn *net.UnixConn, want byte) error {
	var b [1]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		return err
	}
	if b[0] != want {
		return fmt.Errorf("%w: %q, must be %q", peer.ErrMalformed, b[0], want)
	}
	return nil
}

// watchPeer returns a pidfd of the process at the other end of conn.
func watchPeer(conn *net.UnixConn) (*os.File, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, failed := -1, error(nil)
	err = raw.Control(func(s uintptr) {
		if fd, failed = unix.GetsockoptInt(int(s), unix.SOL_SOCKET, unix.SO_PEERPIDFD); failed == nil {
			return
		}
		cred, err := unix.GetsockoptUcred(int(s), unix.SOL_SOCKET, unix.SO_PEERCRED) // before Linux 6.5
		if err != nil {
			failed = err
			return
		}
		fd, failed = unix.PidfdOpen(int(cred.Pid), 0)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("shm: watch the peer's process: %w", err)
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil { // so that the runtime waits for it
		unix.Close(fd)
		return nil, fmt.Errorf("shm: watch the peer's process: %w", err)
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

// awaitDeath returns nil when the process of a pidfd is dead, an error when the file was closed.
func awaitDeath(pidfd *os.File) error {
	raw, err := pidfd.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		return err == nil && n == 1 // a dead process's is readable
	})
}
