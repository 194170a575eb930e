package remote

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// Config is what [New] needs. Self and Handler are required; the zero value of every other field stands for the default that is named.
type Config struct {
	Self    Hello
	Handler Handler

	// TLS proves this process to others and others to it; see [LoadTLS]. nil: none, which is for loopback addresses alone, unless Insecure.
	TLS      *TLS
	Insecure bool

	// Vocabulary is what a gateway needs of a node: the metadata of its model file. Its SHA-256 must be Self.Vocabulary. nil: there is none to be had here.
	Vocabulary []byte

	PingEvery    time.Duration // 1 s
	LostAfter    time.Duration // a peer of which nothing was heard for so long is lost; 5 s. At least three times PingEvery
	HelloTimeout time.Duration // from the first byte to the end of the hellos; 5 s
	RedialLeast  time.Duration // the first wait before a peer is dialed again; it doubles, with jitter; 100 ms
	RedialMost   time.Duration // and ends here; 5 s

	MaxMessageBytes int // of one message, encoded; 16 MiB
	WindowMessages  int // received and not handled, of one peer; 1024
	WindowBytes     int // likewise; twice MaxMessageBytes. At least MaxMessageBytes
	QueueMessages   int // to one peer, and not on their way yet; 1024
	QueueBytes      int // likewise; twice MaxMessageBytes. At least MaxMessageBytes
	MaxPeers        int // connected at a time; 1024

	// OnRefused hears of every connection that was refused, by whichever side: at the acceptor with the address it came from, at the dialer with the address that was dialed. OnDialFailed
	// hears of every dial that came to nothing, refused ones among them; the dialer goes on. They are called from goroutines of their own choice and must not block.
	OnRefused    func(address string, err error)
	OnDialFailed func(address string, err error)

	Logger        *zap.Logger         // nil: none
	ServerOptions []grpc.ServerOption // further ones, for tracing
	DialOptions   []grpc.DialOption
}

func (c *Config) complete() error {
	if c.Handler == nil {
		return errors.New("remote: Config.Handler is missing")
	}
	c.Self.Protocol = Protocol
	if err := c.Self.validate(); err != nil {
		return fmt.Errorf("remote: Config.Self: %w", err)
	}
	if digest := sha256.Sum256(c.Vocabulary); c.Vocabulary != nil && digest != c.Self.Vocabulary {
		return fmt.Errorf("remote: Config.Vocabulary has digest %.8x, Self.Vocabulary is %.8x", digest[:], c.Self.Vocabulary[:])
	}
	setDefault(&c.PingEvery, time.Second)
	setDefault(&c.LostAfter, 5*time.Second)
	setDefault(&c.HelloTimeout, 5*time.Second)
	setDefault(&c.RedialLeast, 100*time.Millisecond)
	setDefault(&c.RedialMost, 5*time.Second)
	setDefault(&c.MaxMessageBytes, 16<<20)
	setDefault(&c.WindowMessages, 1024)
	setDefault(&c.WindowBytes, 2*c.MaxMessageBytes)
	setDefault(&c.QueueMessages, 1024)
	setDefault(&c.QueueBytes, 2*c.MaxMessageBytes)
	setDefault(&c.MaxPeers, 1024)
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	for _, f := range []struct {
		name  string
		value int64
		least int64
	}{
		{"PingEvery", int64(c.PingEvery), 1}, {"LostAfter", int64(c.LostAfter), 3 * int64(c.PingEvery)}, {"HelloTimeout", int64(c.HelloTimeout), 1},
		{"RedialLeast", int64(c.RedialLeast), 1}, {"RedialMost", int64(c.RedialMost), int64(c.RedialLeast)},
		{"MaxMessageBytes", int64(c.MaxMessageBytes), 1024}, {"WindowMessages", int64(c.WindowMessages), 1}, {"WindowBytes", int64(c.WindowBytes), int64(c.MaxMessageBytes)},
		{"QueueMessages", int64(c.QueueMessages), 1}, {"QueueBytes", int64(c.QueueBytes), int64(c.MaxMessageBytes)}, {"MaxPeers", int64(c.MaxPeers), 1},
	} {
		if f.value < f.least {
			return fmt.Errorf("remote: Config.%s is %d, must be at least %d", f.name, f.value, f.least)
		}
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
