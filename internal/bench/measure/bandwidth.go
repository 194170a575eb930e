package measure

import (
	"bytes"
	"context"
	"sync"
	"time"
)

const (
	bandwidthBytes  = 512 << 20 // many times the last cache that one core can fill
	bandwidthPasses = 5
	// chunkBytes is read by one call: assembly cannot be interrupted, neither by Ctrl-C nor by another goroutine.
	chunkBytes = 1 << 20
)

// ReadBandwidth is how many bytes a second so many threads read from memory together, for each of threads: the best of several passes over a buffer that no cache holds, each
// thread through a part of its own. Decoding one sequence reads every weight once a token, so that weights times tokens a second cannot exceed it.
//
// The reading loop is the standard library's search for a byte that is not there. It is vector code on the processors that matter and does nothing else, so memory is
// what it waits for.
func ReadBandwidth(ctx context.Context, threads []int) ([]float64, error) {
	return readBandwidth(ctx, threads, bandwidthBytes)
}

func readBandwidth(ctx context.Context, threads []int, size int) ([]float64, error) {
	// Memory that was never written is one page of zeros, which a cache holds.
	buf := bytes.Repeat([]byte{1}, size)
	speeds := make([]float64, len(threads))
	for i, n := range threads {
		for range bandwidthPasses {
			begun := time.Now()
			readAll(ctx, buf, n)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			speeds[i] = max(speeds[i], float64(size)/time.Since(begun).Seconds())
		}
	}
	return speeds, nil
}

// readAll reads buf with this many threads, until ctx ends. All bytes of buf are 1.
func readAll(ctx context.Context, buf []byte, threads int) {
	var readers sync.WaitGroup
	for i := range threads {
		part := buf[len(buf)*i/threads : len(buf)*(i+1)/threads]
		readers.Go(func() {
			for len(part) > 0 && ctx.Err() == nil {
				n := min(len(part), chunkBytes)
				if bytes.IndexByte(part[:n], 0) >= 0 {
					panic("measure: the buffer has changed")
				}
				part = part[n:]
			}
		})
	}
	readers.Wait()
}
