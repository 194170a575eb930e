package shm_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
	"github.com/kvasir-engine/kvasir/transport/internal/peer"
	"github.com/kvasir-engine/kvasir/transport/shm"
	"github.com/kvasir-engine/kvasir/transport/transporttest"
)

var kind = transporttest.Kind{
	New: func(t testing.TB) func() transport.Transport {
		return func() transport.Transport {
			tr, err := shm.New(shm.Config{})
			if err != nil {
				t.Fatal(err)
			}
			return tr
		}
	},
	NewSlab:       newSlab,
	OneSided:      true,
	FenceAsksPeer: true,
	Processes:     true,
}

func newSlab(t testing.TB, pages, pageBytes int) transport.Slab {
	s, err := shm.NewSlab(pages, pageBytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shm.Free(s); err != nil {
			t.Errorf("free: %v", err)
		}
	})
	return s
}

// muteVariable names the descriptor that a child dials, whose connection it then drops without a word.
const muteVariable = "KVASIR_SHM_MUTE"

var self = page.Link{Peer: 2, Incarnation: 2, Epoch: 1}

func TestMain(m *testing.M) {
	if descriptor := os.Getenv(muteVariable); descriptor != "" {
		mute(descriptor)
		return
	}
	os.Exit(transporttest.Main(m, kind))
}

func TestSharedMemory(t *testing.T) { transporttest.Run(t, kind) }

func mute(descriptor string) {
	b, _ := hex.DecodeString(descriptor)
	d, err := peer.ParseDescriptor(b)
	if err != nil {
		panic(err)
	}
	conn, err := net.Dial("unix", d.Address)
	if err != nil {
		panic(err)
	}
	if _, err := peer.Dial(conn, peer.Secret{Name: "shm"}, d.Key, self); err != nil {
		panic(err)
	}
	conn.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), make([]byte, 64)) // it has the memory file now, in some way
	conn.Close()
	fmt.Println("closed")
	io.Copy(io.Discard, os.Stdin)
}

// The end of a peer's connection is no end of its mapping: only its word or its death is.
func TestAClosedSocketIsNoFence(t *testing.T) {
	e := expose(t, newSlab(t, 2, 4096))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), muteVariable+"="+hex.EncodeToString(e.Descriptor(self)))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var said string
	if fmt.Fscan(out, &said); said != "closed" {
		t.Fatalf("the child says %q", said)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := e.Fence(ctx, self); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("fence of a peer that is alive and has said nothing: %v", err)
	}
	cmd.Process.Kill()
	ctx, cancel = context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := e.Fence(ctx, self); err != nil {
		t.Errorf("fence of a dead peer: %v", err)
	}
}

func expose(t *testing.T, slab transport.Slab) transport.Exposed {
	t.Helper()
	e, err := kind.New(t)().Expose(slab, transport.NewExports())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Whoever gets the memory file can neither write it nor cut it; who made it goes on writing through the mapping that it has.
func TestPeersCannotWrite(t *testing.T) {
	s := newSlab(t, 2, 4096)
	fd := int(s.File.Fd())
	if b, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		unix.Munmap(b)
		t.Error("it may be mapped for writing")
	}
	if _, err := unix.Pwrite(fd, []byte{1}, 0); err == nil {
		t.Error("it may be written")
	}
	if err := unix.Ftruncate(fd, 0); err == nil {
		t.Error("it may be cut")
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE); err == nil {
		t.Error("its seals may be changed")
	}
	s.Bytes[5000] = 7
	view, err := unix.Mmap(fd, 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(view)
	if view[5000] != 7 {
		t.Error("what is written is not seen")
	}
}

func TestOnlyItsOwnSlabs(t *testing.T) {
	tr := kind.New(t)()
	fd, err := unix.MemfdCreate("unsealed", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	unsealed := os.NewFile(uintptr(fd), "unsealed")
	defer unsealed.Close()
	unsealed.Truncate(8192)
	own, other := newSlab(t, 2, 4096), newSlab(t, 4, 4096)
	plain := transporttest.NewSlab(t, 2, 4096)
	for name, s := range map[string]transport.Slab{
		"other memory":     plain,
		"an unsealed file": {Bytes: plain.Bytes, PageBytes: 4096, File: unsealed},
		"another's file":   {Bytes: own.Bytes, PageBytes: 4096, File: other.File},
	} {
		if e, err := tr.Expose(s, transport.NewExports()); err == nil {
			e.Close()
			t.Errorf("%s may be exposed", name)
		} else if !strings.Contains(err.Error(), "shm.NewSlab") {
			t.Errorf("%s: the error does not say what to do: %v", name, err)
		}
	}
	for _, c := range [][2]int{{0, 1}, {1, 0}, {-1, 4096}, {1 << 60, 1 << 60}} {
		if s, err := shm.NewSlab(c[0], c[1]); err == nil {
			shm.Free(s)
			t.Errorf("a slab of %d pages of %d bytes", c[0], c[1])
		}
	}
	if _, err := shm.New(shm.Config{Copiers: -1}); err == nil {
		t.Error("-1 copiers")
	}
}

// The socket may be a file, which goes with what is exposed.
func TestSocketInADirectory(t *testing.T) {
	dir := t.TempDir()
	tr, err := shm.New(shm.Config{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	slab := newSlab(t, 1, 4096)
	e, err := tr.Expose(slab, transport.NewExports())
	if err != nil {
		t.Fatal(err)
	}
	c, err := tr.Dial(context.Background(), page.Link{Peer: 1, Incarnation: 1, Epoch: 1}, self, e.Descriptor(self), transporttest.NewSlab(t, 1, 4096))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}
