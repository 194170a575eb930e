package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// readBody reads the request's JSON object.
func (s *server) readBody(w *response, r *http.Request) (*fields, error) {
	if err := checkHeader(r); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, s.maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, &apiError{status: http.StatusRequestEntityTooLarge, kind: kindInvalid, code: "request_too_large",
			message: fmt.Sprintf("the request body is longer than %d bytes, the most that is taken", tooLarge.Limit)}
	}
	if err != nil {
		return nil, &apiError{status: http.StatusBadRequest, kind: kindInvalid, code: "incomplete_body", message: "the request body did not arrive whole"}
	}
	// With the body the deadline that ServeHTTP set has done its work. It must be gone before the answer: the http.Server goes on reading to notice that
	// the client left, and would take the deadline for that.
	_ = w.control.SetReadDeadline(time.Time{})
	if sentAsForm(r) && kindOf(body) != "an object" {
		return nil, unsupportedMedia("Content-Type", formType)
	}
	return parseBody(body)
}

// formType is what browsers' forms send, and curl -d unless told otherwise.
const formType = "application/x-www-form-urlencoded"

// checkHeader refuses what is surely not JSON. JSON under the name of a form is taken from programs (whose users forgot curl's -H), not from browsers,
// which always send Origin with a form: no page can make its visitors ask.
func checkHeader(r *http.Request) error {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return unsupportedMedia("Content-Encoding", e)
	}
	if sentAsForm(r) && len(r.Header.Values("Origin")) > 0 {
		return unsupportedMedia("Content-Type", formType)
	}
	if media := mediaType(r); strings.HasPrefix(media, "multipart/") {
		return unsupportedMedia("Content-Type", media)
	}
	return nil
}

func sentAsForm(r *http.Request) bool { return mediaType(r) == formType }

// mediaType is the Content-Type without its parameters, in lower case.
func mediaType(r *http.Request) string {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(media))
}

func parseBody(body []byte) (*fields, error) {
	var raw map[string]json.RawMessage
	err := json.Unmarshal(body, &raw)
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) || err == nil && raw == nil {
		return nil, invalid(codeInvalidType, "", "the request body must be a JSON object, not %s", kindOf(body))
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return nil, invalid(codeInvalidJSON, "", "the request body is not valid JSON, at byte %d: %v", syntax.Offset, syntax)
	}
	if err != nil {
		return nil, invalid(codeInvalidJSON, "", "the request body is not valid JSON")
	}
	return &fields{raw: raw, problem: new(problem)}, nil
}

// problem keeps the first error of a request.
type problem struct{ first *apiError }

// fields are the members of one JSON object of a request.
//
// Its methods return a default where a field is left out or null, and keep the first error: a request is read as a list of fields, with one look at the
// error at the end. Names are compared exactly; of duplicate names the last counts.
type fields struct {
	path    string // of this object: "" for the body, "messages[2]"
	raw     map[string]json.RawMessage
	problem *problem // shared by all objects of a request
}

// err is the first error of the request, if there is one.
func (f *fields) err() error {
	if f.problem.first == nil {
		return nil
	}
	return f.problem.first
}

// fail keeps an error of the field at path, unless there is one already. The message goes on after the path.
func (f *fields) fail(code, path, format string, args ...any) {
	if f.problem.first == nil {
		f.problem.first = invalid(code, path, format, args...)
	}
}

func (f *fields) at(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// get returns a field that is there and not null.
func (f *fields) get(name string) (json.RawMessage, bool) {
	v, ok := f.raw[name]
	return v, ok && string(v) != "null"
}

func (f *fields) has(name string) bool {
	_, ok := f.get(name)
	return ok
}

func (f *fields) text(name string) string {
	raw, ok := f.get(name)
	if !ok {
		return ""
	}
	v, _ := f.asText(raw, f.at(name), "a string")
	return v
}

func (f *fields) boolean(name string) bool {
	raw, ok := f.get(name)
	if ok && string(raw) != "true" && string(raw) != "false" {
		f.fail(codeInvalidType, f.at(name), "must be true or false, not %s", kindOf(raw))
	}
	return string(raw) == "true"
}

// number reads a number in [low, high].
func (f *fields) number(name string, low, high, fallback float64) float64 {
	raw, ok := f.get(name)
	if !ok {
		return fallback
	}
	v, _ := f.asNumber(raw, f.at(name), low, high)
	return v
}

// integer reads a whole number in [low, high].
func (f *fields) integer(name string, low, high, fallback int64) int64 {
	raw, ok := f.get(name)
	if !ok {
		return fallback
	}
	v, _ := f.asInteger(raw, f.at(name), low, high)
	return v
}

// list calls each with the elements of an array and their paths, until one fails.
func (f *fields) list(raw json.RawMessage, path string, each func(raw json.RawMessage, path string) bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil { // the bracket
		panic("server: list of something that is no array")
	}
	for i := 0; dec.More(); i++ {
		var element json.RawMessage
		if err := dec.Decode(&element); err != nil {
			panic("server: an array that was valid JSON is none any more: " + err.Error())
		}
		if !each(element, fmt.Sprintf("%s[%d]", path, i)) {
			return
		}
	}
}

// object reads an object.
func (f *fields) object(raw json.RawMessage, path string) (*fields, bool) {
	o := &fields{path: path, problem: f.problem}
	if raw[0] != '{' || json.Unmarshal(raw, &o.raw) != nil {
		f.fail(codeInvalidType, path, "must be an object, not %s", kindOf(raw))
		return o, false
	}
	return o, true
}

func (f *fields) asText(raw json.RawMessage, path, want string) (string, bool) {
	var v string
	if raw[0] != '"' || json.Unmarshal(raw, &v) != nil {
		f.fail(codeInvalidType, path, "must be %s, not %s", want, kindOf(raw))
		return "", false
	}
	return v, true
}

func (f *fields) asNumber(raw json.RawMessage, path string, low, high float64) (float64, bool) {
	if !isNumber(raw) {
		f.fail(codeInvalidType, path, "must be a number from %v to %v, not %s", low, high, kindOf(raw))
		return 0, false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || v < low || v > high {
		f.fail(codeInvalidValue, path, "must be from %v to %v, not %s", low, high, clip(string(raw)))
		return 0, false
	}
	return v, true
}

func (f *fields) asInteger(raw json.RawMessage, path string, low, high int64) (int64, bool) {
	if !isNumber(raw) {
		f.fail(codeInvalidType, path, "must be a whole number from %d to %d, not %s", low, high, kindOf(raw))
		return 0, false
	}
	v, err := strconv.ParseInt(string(raw), 10, 64)
	if errors.Is(err, strconv.ErrSyntax) { // 1.0 and 1e3 are whole numbers too
		float, floatErr := strconv.ParseFloat(string(raw), 64)
		if floatErr == nil && float == math.Trunc(float) && math.Abs(float) < 1<<53 {
			v, err = int64(float), nil
		}
	}
	if err != nil || v < low || v > high {
		f.fail(codeInvalidValue, path, "must be a whole number from %d to %d, not %s", low, high, clip(string(raw)))
		return 0, false
	}
	return v, true
}

func isNumber(raw []byte) bool { return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' }

// kindOf names the type of a JSON value.
func kindOf(raw []byte) string {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			return "an object"
		case '[':
			return "an array"
		case '"':
			return "a string"
		case 't', 'f':
			return "true or false"
		case 'n':
			return "null"
		}
		return "a number"
	}
	return "nothing"
}

// compact is a JSON value without the spaces between its parts.
func compact(raw []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		panic("server: valid JSON is none any more: " + err.Error())
	}
	return b.String()
}
