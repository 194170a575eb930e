//go:build ucx && cgo

package ucx

/*
#cgo LDFLAGS: -lucp -lucs
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unsafe"

	"github.com/kvasir-engine/kvasir/kvpool/page"
	"github.com/kvasir-engine/kvasir/transport"
)

// mode is how the reading side's endpoint ends.
type mode int

const (
	force mode = C.KV_FORCE
	drain mode = C.KV_DRAIN
)

// fits are UCX's transports whose fence is this node's own doing.
var fits = map[string]mode{
	"rc": force, "rc_verbs": force, "rc_mlx5": force, "rc_x": force, "rc_v": force,
	"posix": 0, "sysv": 0,
	"tcp": force | drain,
}

// modeOf says how endpoints of the named transports end, or which may not be used.
func modeOf(names string, trial bool) (mode, error) {
	if names == "tcp" && !trial {
		return 0, errors.New("ucx: Transports names tcp, which is for trials only (Trial): the exposing node may die with a node that reads; use the tcp transport")
	}
	how := mode(-1)
	for name := range strings.SplitSeq(names, ",") {
		m, ok := fits[name]
		if !ok {
			return 0, fmt.Errorf("ucx: Transports names %q, which has no end per peer or is not known to have one; must be posix, sysv, rc, rc_verbs or rc_mlx5", name)
		}
		if how >= 0 && m != how {
			return 0, fmt.Errorf("ucx: Transports names %s, whose endpoints do not end alike: name either those of a network or those of shared memory", names)
		}
		how = m
	}
	return how, nil
}

// worker is a UCX worker and its thread.
type worker struct{ c *C.kv_worker }

func status(s C.int) error {
	if s == 0 {
		return nil
	}
	return errors.New(C.GoString(C.kv_text(s)))
}

// openWorker makes a worker with options of UCX, name and value by turns.
func openWorker(options ...string) (*worker, error) {
	C.kv_quiet()
	list := (*[1 << 10]C.kv_option)(C.calloc(C.size_t(len(options)), C.sizeof_kv_option)) // more than there are, so never empty
	defer C.free(unsafe.Pointer(list))
	for i := 0; i < len(options); i += 2 {
		list[i/2] = C.kv_option{name: C.CString(options[i]), value: C.CString(options[i+1])}
		defer C.free(unsafe.Pointer(list[i/2].name))
		defer C.free(unsafe.Pointer(list[i/2].value))
	}
	w := &worker{}
	if err := status(C.kv_open(&w.c, &list[0], C.int(len(options)/2))); err != nil {
		return nil, fmt.Errorf("open a worker: %w", err)
	}
	return w, nil
}

// expose registers a slab and starts the thread. The address and the key are for the peer.
func (w *worker) expose(slab transport.Slab) (address, key []byte, err error) {
	if err := status(C.kv_expose(w.c, unsafe.Pointer(&slab.Bytes[0]), C.size_t(len(slab.Bytes)))); err != nil {
		return nil, nil, fmt.Errorf("register %d bytes: %w", len(slab.Bytes), err)
	}
	var n C.size_t
	p := C.kv_address(w.c, &n)
	address = C.GoBytes(p, C.int(n))
	p = C.kv_key(w.c, &n)
	key = C.GoBytes(p, C.int(n))
	return address, key, w.start()
}

// connect connects to a worker that has exposed a slab, waits until it answers, and starts the thread.
func (w *worker) connect(address, key []byte, how mode, wait time.Duration) error {
	a, k := C.CBytes(address), C.CBytes(key)
	defer C.free(a)
	defer C.free(k)
	if err := status(C.kv_connect(w.c, a, k, C.int(how), C.int64_t(wait.Milliseconds()))); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return w.start()
}

func (w *worker) start() error {
	if err := status(C.kv_start(w.c)); err != nil {
		return fmt.Errorf("start a thread: %w", err)
	}
	return nil
}

// get begins to read. It returns false if the worker has been stopped; else the read ends, and ends tells of it.
func (w *worker) get(id uint64, slab transport.Slab, dst page.Index, from uint64) bool {
	b := slab.Page(dst)
	return C.kv_get(w.c, C.uint64_t(id), unsafe.Pointer(&b[0]), C.size_t(len(b)), C.uint64_t(from)) == 0
}

// ends calls f for reads that are over, with nil if all of the bytes have landed.
func (w *worker) ends(f func(id uint64, err error)) {
	var got [64]C.kv_end
	for {
		n := C.kv_ends(w.c, &got[0], C.size_t(len(got)))
		for _, e := range got[:n] {
			f(uint64(e.id), status(e.status))
		}
		if int(n) < len(got) {
			return
		}
	}
}

// events is readable when ends has something to tell, the endpoint has failed, or the thread has ended. It is the caller's to close.
func (w *worker) events() (*os.File, error) {
	fd, err := dupNonblocking(int(C.kv_event_fd(w.c)))
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "ucx events"), nil
}

// failed says why the endpoint has failed, if it has.
func (w *worker) failed() error { return status(C.kv_failed(w.c)) }

// stop is the fence: see the package's comment. It may be called again.
func (w *worker) stop() { C.kv_stop(w.c) }

// free stops the worker and forgets it. Nothing may be called afterwards.
func (w *worker) free() { C.kv_free(w.c) }
