// The generators of the code in protos/kvasir, pinned in a module of their own so that the engine's has none of their dependencies. See `make protos`.
module github.com/kvasir-engine/kvasir/protos/tools

go 1.26.0

tool (
	google.golang.org/grpc/cmd/protoc-gen-go-grpc
	google.golang.org/protobuf/cmd/protoc-gen-go
)

require (
	google.golang.org/grpc/cmd/protoc-gen-go-grpc v1.6.2
	google.golang.org/protobuf v1.36.12
)
