package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/kvasir-engine/kvasir/request"
)

// apiError is an error in OpenAI's shape.
type apiError struct {
	status     int
	kind       string // the JSON field "type"
	code       string
	param      string // the field at fault, as a path: messages[2].role
	message    string
	retryAfter time.Duration // whole seconds; 0: no Retry-After header
}

func (e *apiError) Error() string { return e.message }

type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func (e *apiError) body() errorBody {
	d := errorDetail{Message: e.message, Type: e.kind}
	if e.param != "" {
		d.Param = &e.param
	}
	if e.code != "" {
		d.Code = &e.code
	}
	return errorBody{d}
}

const (
	kindInvalid   = "invalid_request_error"
	kindRateLimit = "rate_limit_error"
	kindServer    = "server_error"

	codeInvalidJSON  = "invalid_json"
	codeInvalidType  = "invalid_type"
	codeInvalidValue = "invalid_value"
	codeMissing      = "missing_required_parameter"
	codeUnsupported  = "unsupported_parameter"
)

// invalid is a 400 for the field param; the message begins with its name.
func invalid(code, param, format string, args ...any) *apiError {
	message := fmt.Sprintf(format, args...)
	if param != "" {
		message = param + " " + message
	}
	return &apiError{status: http.StatusBadRequest, kind: kindInvalid, code: code, param: param, message: message}
}

func internal() *apiError {
	return &apiError{status: http.StatusInternalServerError, kind: kindServer, code: "internal_error", message: "the server failed to answer this request"}
}

func unauthorized() *apiError {
	return &apiError{status: http.StatusUnauthorized, kind: kindInvalid, code: "invalid_api_key",
		message: "no valid API key: send the header Authorization: Bearer KEY"}
}

func notFound(r *http.Request) *apiError {
	return &apiError{status: http.StatusNotFound, kind: kindInvalid, code: "unknown_url",
		message: fmt.Sprintf("there is no %s here", clip(r.URL.Path))}
}

func methodNotAllowed(r *http.Request, allow string) *apiError {
	return &apiError{status: http.StatusMethodNotAllowed, kind: kindInvalid, code: "method_not_allowed",
		message: fmt.Sprintf("%s does not take %s, but %s", clip(r.URL.Path), clip(r.Method), allow)}
}

func unsupportedMedia(header, value string) *apiError {
	return &apiError{status: http.StatusUnsupportedMediaType, kind: kindInvalid, code: "unsupported_media_type",
		message: fmt.Sprintf("%s %s is not taken: send JSON, with Content-Type: application/json", header, clip(value))}
}

func modelNotFound(asked, served string) *apiError {
	return &apiError{status: http.StatusNotFound, kind: kindInvalid, code: "model_not_found", param: "model",
		message: fmt.Sprintf("the model %q is not served here; %q is", clip(asked), served)}
}

// clientGone is for a client that left before its answer began, or took nothing of it for too long. It is mostly for logs and metrics, but one that closed
// its sending side only can read it.
func clientGone() *apiError {
	return &apiError{status: statusClientGone, kind: kindInvalid, code: "client_gone", message: "the client closed the connection before its answer began"}
}

// clip keeps what a client sent from filling a message.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// errNoEnd: the engine's stream ended without telling how each choice ended.
var errNoEnd = errors.New("server: the engine ended a stream without finishing each choice")

// fail answers err if the answer has not begun, and logs what the operator should know of.
// Rejections are the client's affair, and may quote the request: they are not logged.
func (s *server) fail(w *response, r *http.Request, err error) {
	e := describe(err)
	if errors.Is(r.Context().Err(), context.Canceled) && e.status >= http.StatusInternalServerError {
		e = clientGone()
	}
	if e.status >= http.StatusInternalServerError && !errors.Is(err, request.ErrRejected) {
		s.log.Error("request failed", zap.String("id", w.Header().Get(requestIDHeader)), zap.String("code", e.code), zap.Error(err))
	}
	if !w.begun() {
		w.fail(e)
	}
}

// describe puts any error of a handler or the engine into OpenAI's shape.
// Only rejections and errors of this package speak to the client in their own words; others might tell of the inside.
func describe(err error) *apiError {
	var e *apiError
	var rejection *request.Rejection
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &rejection):
		return refused(rejection)
	case errors.Is(err, request.ErrPageCheck):
		return &apiError{status: http.StatusInternalServerError, kind: kindServer, code: "page_check_failed",
			message: "a cache page of this request failed its check; no token was made from it"}
	case errors.Is(err, request.ErrNoLogits):
		return &apiError{status: http.StatusInternalServerError, kind: kindServer, code: "no_logits",
			message: "the model computed no number to choose a token by"}
	case errors.Is(err, request.ErrEngineFailed):
		return &apiError{status: http.StatusServiceUnavailable, kind: kindServer, code: "engine_failed", message: "the engine failed"}
	case errors.Is(err, request.ErrUnavailable):
		return &apiError{status: http.StatusServiceUnavailable, kind: kindServer, code: "unavailable", retryAfter: time.Second,
			message: "no node could serve the request, or the one that did was lost; it may be made again"}
	case errors.Is(err, request.ErrClosed):
		return closing("the engine is closed")
	case errors.Is(err, context.DeadlineExceeded):
		return &apiError{status: http.StatusGatewayTimeout, kind: kindServer, code: "timeout", message: "the time for this request is over"}
	}
	return internal()
}

func refused(r *request.Rejection) *apiError {
	switch r.Limit {
	case request.LimitContext, request.LimitPool:
		return &apiError{status: http.StatusBadRequest, kind: kindInvalid, code: "context_length_exceeded", param: r.Field, message: r.Why}
	case request.LimitQueue:
		return &apiError{status: http.StatusTooManyRequests, kind: kindRateLimit, code: "queue_full", message: r.Why, retryAfter: time.Second}
	case request.LimitInput:
		return &apiError{status: http.StatusBadRequest, kind: kindInvalid, code: codeInvalidValue, param: r.Field, message: r.Why}
	case request.LimitClosing:
		return closing(r.Why)
	}
	return internal()
}

func closing(message string) *apiError {
	return &apiError{status: http.StatusServiceUnavailable, kind: kindServer, code: "closing", message: message}
}
