package kvasir

import "github.com/kvasir-engine/kvasir/request"

// The words of a generation; see package request for their fields.
type (
	Request      = request.Request
	Message      = request.Message
	Sampling     = request.Sampling
	Token        = request.Token
	TopToken     = request.TopToken
	Usage        = request.Usage
	FinishReason = request.FinishReason
	Rejection    = request.Rejection
	Limit        = request.Limit
)

const (
	FinishStop   = request.FinishStop
	FinishLength = request.FinishLength
)

// Errors of Generate; use errors.Is. A request that was refused before it began matches ErrRejected and one of
// ErrContextLength, ErrQueueFull, ErrInvalid and ErrClosed, and is a *Rejection with the numbers.
var (
	ErrRejected      = request.ErrRejected
	ErrContextLength = request.ErrContextLength
	ErrQueueFull     = request.ErrQueueFull
	ErrInvalid       = request.ErrInvalid
	ErrClosed        = request.ErrClosed
	ErrPageCheck     = request.ErrPageCheck
	ErrNoLogits      = request.ErrNoLogits
	ErrUnavailable   = request.ErrUnavailable
	ErrEngineFailed  = request.ErrEngineFailed
)
