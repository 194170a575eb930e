package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/kvasir-engine/kvasir/protos/kvasir/v1"
)

const (
	vocabularyChunk = 256 << 10
	maxVocabulary   = 256 << 20
)

type describeServer struct {
	pb.UnimplementedDescribeServer
	links *Links
}

// Vocabulary sends the content that this process's hello names.
func (s *describeServer) Vocabulary(r *pb.VocabularyRequest, stream grpc.ServerStreamingServer[pb.VocabularyChunk]) error {
	content, digest := s.links.cfg.Vocabulary, s.links.cfg.Self.Vocabulary
	if content == nil || !bytes.Equal(r.GetDigest(), digest[:]) {
		return status.Errorf(codes.NotFound, "vocabulary %x is not here; this node has %x", r.GetDigest(), digest)
	}
	for rest := content; len(rest) > 0; {
		n := min(len(rest), vocabularyChunk)
		if err := stream.Send(&pb.VocabularyChunk{Total: uint64(len(content)), Data: rest[:n]}); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// Vocabulary fetches what the peer's hello names by Vocabulary: the metadata of its model file. The content is the caller's. It may be called by a Handler, but waits for the peer.
func (p *Peer) Vocabulary(ctx context.Context) ([]byte, error) {
	addr := p.address
	if !p.dialed {
		addr = p.hello.Address
	}
	content, err := p.links.vocabulary(ctx, addr, p.hello.Vocabulary)
	if err != nil {
		return nil, fmt.Errorf("remote: vocabulary of %v: %w", p, err)
	}
	return content, nil
}

func (l *Links) vocabulary(ctx context.Context, addr string, digest [32]byte) ([]byte, error) {
	if err := MayUse(addr, l.cfg.TLS != nil, l.cfg.Insecure); err != nil {
		return nil, err
	}
	cc, err := l.client(addr)
	if err != nil {
		return nil, err
	}
	defer cc.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := pb.NewDescribeClient(cc).Vocabulary(ctx, &pb.VocabularyRequest{Digest: digest[:]})
	if err != nil {
		return nil, err
	}
	var content []byte
	for {
		chunk, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			if got := sha256.Sum256(content); got != digest {
				return nil, fmt.Errorf("%d bytes came with digest %x, must have %x", len(content), got, digest)
			}
			return content, nil
		case err != nil:
			return nil, err
		case chunk.GetTotal() > maxVocabulary || uint64(len(content)+len(chunk.GetData())) > chunk.GetTotal():
			return nil, fmt.Errorf("%d bytes came of %d; at most %d are taken", len(content)+len(chunk.GetData()), chunk.GetTotal(), maxVocabulary)
		}
		content = append(content, chunk.GetData()...)
	}
}
