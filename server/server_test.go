package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/kvasir-engine/kvasir/request"
)

// do sends a request over no network; headers are "Name: value".
func do(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRoutes(t *testing.T) {
	const model = `{"id":"acme/tiny","object":"model","created":1700000000,"owned_by":"kvasir","max_model_len":128}`
	errorJSON := func(message, param, code string) string {
		return `{"error":{"message":"` + message + `","type":"invalid_request_error","param":` + param + `,"code":"` + code + `"}}`
	}
	for _, c := range []struct {
		method, path string
		status       int
		allow, body  string
	}{
		{"GET", "/v1/models", 200, "", `{"object":"list","data":[` + model + `]}`},
		{"GET", "/v1/models/acme/tiny", 200, "", model},
		{"GET", "/v1/models/acme%2Ftiny", 200, "", model},
		{"GET", "/v1/models/other", 404, "", errorJSON(`the model \"other\" is not served here; \"acme/tiny\" is`, `"model"`, "model_not_found")},
		{"GET", "/health", 200, "", `{"status":"ok"}`},
		{"GET", "/ready", 200, "", `{"status":"ok"}`},
		{"GET", "/metrics", 404, "", errorJSON("there is no /metrics here", "null", "unknown_url")}, // without a Gatherer
		{"GET", "/", 404, "", errorJSON("there is no / here", "null", "unknown_url")},
		{"GET", "/v1/models/", 404, "", errorJSON("there is no /v1/models/ here", "null", "unknown_url")},
		{"POST", "//v1/completions", 404, "", errorJSON("there is no //v1/completions here", "null", "unknown_url")},
		{"GET", "/v1/completions", 405, "POST", errorJSON("/v1/completions does not take GET, but POST", "null", "method_not_allowed")},
		{"OPTIONS", "/v1/completions", 405, "POST", errorJSON("/v1/completions does not take OPTIONS, but POST", "null", "method_not_allowed")},
		{"DELETE", "/v1/models/acme/tiny", 405, "GET, HEAD", errorJSON("/v1/models/acme/tiny does not take DELETE, but GET, HEAD", "null", "method_not_allowed")},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			w := do(newServer(says("a"), Config{}), c.method, c.path, "")
			if w.Code != c.status || w.Header().Get("Allow") != c.allow {
				t.Errorf("status %d, Allow %q", w.Code, w.Header().Get("Allow"))
			}
			sameJSON(t, w.Body.String(), c.body)
		})
	}
}

func TestModelByAnotherName(t *testing.T) {
	w := post(newServer(says("a"), Config{}), "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`)
	if e := errorOf(t, w.Body.Bytes()); w.Code != 404 || deref(e.Param) != "model" || deref(e.Code) != "model_not_found" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestProbes(t *testing.T) {
	e := says("a")
	e.health, e.ready = errors.New("the pool actor ended"), errors.New("closing")
	h := newServer(e, Config{})
	for path, want := range map[string]string{"/health": "the pool actor ended", "/ready": "closing"} {
		w := do(h, "GET", path, "")
		if got := errorOf(t, w.Body.Bytes()); w.Code != 503 || got.Message != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestBodiesThatAreNotTaken(t *testing.T) {
	for _, c := range []struct {
		name, body, header string
		status             int
		code               string
	}{
		{"too long", hello + strings.Repeat(" ", 100), "Content-Type: application/json", 413, "request_too_large"},
		{"a form", "a=b", "Content-Type: application/x-www-form-urlencoded", 415, "unsupported_media_type"},
		{"curl -d", " \r\n" + hello, "Content-Type: application/x-www-form-urlencoded", 200, ""},
		{"curl -d, with a character set", hello, "Content-Type: Application/X-WWW-Form-URLencoded; charset=utf-8", 200, ""},
		{"an array from curl -d", "[" + hello + "]", "Content-Type: application/x-www-form-urlencoded", 415, "unsupported_media_type"},
		{"nothing from curl -d", "", "Content-Type: application/x-www-form-urlencoded", 415, "unsupported_media_type"},
		{"a form with a file", "a=b", "Content-Type: multipart/form-data; boundary=x", 415, "unsupported_media_type"},
		{"compressed", hello, "Content-Encoding: gzip", 415, "unsupported_media_type"},
		{"with a character set", hello, "Content-Type: application/json; charset=utf-8", 200, ""},
		{"of an odd type", hello, "Content-Type: ;;", 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := do(newServer(says("a"), Config{MaxBodyBytes: int64(len(hello)) + 3}), "POST", "/v1/chat/completions", c.body, c.header)
			if w.Code != c.status {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
			if c.code != "" && deref(errorOf(t, w.Body.Bytes()).Code) != c.code {
				t.Errorf("%s, want %s", w.Body, c.code)
			}
		})
	}
}

// A page cannot make its visitors' browsers ask: they say where a form comes from.
func TestFormsOfPagesAreNotTaken(t *testing.T) {
	for _, origin := range []string{"https://a.example", "null", ""} {
		e := says("a")
		w := do(newServer(e, Config{}), "POST", "/v1/chat/completions", hello, "Content-Type: application/x-www-form-urlencoded", "Origin: "+origin)
		if w.Code != 415 || deref(errorOf(t, w.Body.Bytes()).Code) != "unsupported_media_type" || len(e.requests()) != 0 {
			t.Errorf("from %q: %d %s", origin, w.Code, w.Body)
		}
	}
}

func TestAPIKeys(t *testing.T) {
	keys, err := ParseKeys(strings.NewReader("sk-one blue\nsk-two\n"), "keys")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		header, tenant string // no tenant: refused
	}{
		{"Authorization: Bearer sk-one", "blue"},
		{"Authorization: bearer sk-two", "default"},
		{"Authorization: Bearer sk-three", ""},
		{"Authorization: Bearer ", ""},
		{"Authorization: Basic sk-one", ""},
		{"Authorization: sk-one", ""},
		{"X-Other: 1", ""},
	} {
		t.Run(c.header, func(t *testing.T) {
			e := says("a")
			h := newServer(e, Config{APIKeys: keys})
			w := do(h, "POST", "/v1/chat/completions", hello, c.header)
			if c.tenant != "" {
				if w.Code != 200 || e.requests()[0].Tenant != c.tenant {
					t.Errorf("%d, asked %v", w.Code, e.requests())
				}
				return
			}
			if got := errorOf(t, w.Body.Bytes()); w.Code != 401 || deref(got.Code) != "invalid_api_key" || w.Header().Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
			}
			if len(e.requests()) != 0 {
				t.Error("the engine was asked nevertheless")
			}
			if w := do(h, "GET", "/health", "", c.header); w.Code != 200 {
				t.Errorf("/health asks for a key: %d", w.Code)
			}
		})
	}
}

func TestCORS(t *testing.T) {
	ask := []string{"Origin: https://a.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type"}
	keys, _ := ParseKeys(strings.NewReader("k"), "keys")
	w := do(newServer(says("a"), Config{CORSOrigin: "https://a.example", APIKeys: keys}), "OPTIONS", "/v1/chat/completions", "", ask...)
	h := w.Header()
	if w.Code != 204 || h.Get("Access-Control-Allow-Origin") != "https://a.example" || h.Get("Access-Control-Allow-Headers") != "authorization,content-type" ||
		!strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") || h.Get("Vary") != "Origin" {
		t.Errorf("%d %v", w.Code, h)
	}
	w = do(newServer(says("a"), Config{CORSOrigin: "*"}), "POST", "/v1/chat/completions", hello, ask[0])
	if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	w = do(newServer(says("a"), Config{}), "POST", "/v1/chat/completions", hello, ask[0])
	if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("off: %d %v", w.Code, w.Header())
	}
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	cfg := Config{Registerer: registry, Gatherer: registry}
	h := newServer(says("a"), cfg)
	again := newServer(says("a"), cfg) // a second handler counts into the same metrics
	post(h, "/v1/chat/completions", hello)
	post(again, "/v1/chat/completions", hello)
	post(h, "/v1/completions", "{")
	do(h, "GET", "/v1/models/a", "")
	do(h, "GET", "/some/path/made/up", "")
	w := do(h, "GET", "/metrics", "")
	for _, want := range []string{
		`kvasir_http_requests_total{code="200",path="/v1/chat/completions"} 2`,
		`kvasir_http_requests_total{code="400",path="/v1/completions"} 1`,
		`kvasir_http_requests_total{code="404",path="/v1/models/{model}"} 1`,
		`kvasir_http_requests_total{code="404",path="other"} 1`,
		`kvasir_http_requests_in_flight 1`, // this one
	} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, w.Body)
		}
	}
}

// A panic is answered, counted, and logged without what it says; half an answer is cut off, so that it cannot be taken for a whole one.
func TestPanics(t *testing.T) {
	const secret = "the prompt in a panic"
	early := &fake{script: func(context.Context, request.Request, func(request.Token, error) bool) { panic(secret) }}
	late := &fake{script: func(_ context.Context, r request.Request, yield func(request.Token, error) bool) {
		if r.Prompt == "panic" {
			yield(request.Token{Text: "a"}, nil)
			panic(secret)
		}
		yield(request.Token{Text: "a", Finish: request.FinishStop, Usage: &request.Usage{}}, nil)
	}}
	wrongChoice := &fake{script: func(_ context.Context, _ request.Request, yield func(request.Token, error) bool) {
		yield(request.Token{Choice: 1}, nil)
	}}
	for _, c := range []struct {
		name   string
		engine *fake
		body   string
		cut    bool
	}{
		{"before the answer", early, `{"prompt":"panic"}`, false},
		{"in an answer that is not streamed", late, `{"prompt":"panic"}`, false},
		{"in a stream", late, `{"prompt":"panic","stream":true}`, true},
		{"in one of several prompts", late, `{"prompt":["a","panic","b"]}`, false},
		{"for a choice that does not exist", wrongChoice, `{"prompt":["a","b"]}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			core, logs := observer.New(zapcore.DebugLevel)
			s := newServer(c.engine, Config{Logger: zap.New(core)})
			w := httptest.NewRecorder()
			aborted := func() (p any) {
				defer func() { p = recover() }()
				s.ServeHTTP(w, httptest.NewRequest("POST", "/v1/completions", strings.NewReader(c.body)))
				return nil
			}()
			if c.cut && (aborted != http.ErrAbortHandler || strings.Contains(w.Body.String(), "[DONE]")) {
				t.Errorf("not cut: %v\n%s", aborted, w.Body)
			}
			if !c.cut && (aborted != nil || w.Code != 500 || deref(errorOf(t, w.Body.Bytes()).Code) != "internal_error") {
				t.Errorf("%v, %d %s", aborted, w.Code, w.Body)
			}
			if got := testutil.ToFloat64(s.metrics.panics); got != 1 {
				t.Errorf("%v panics counted", got)
			}
			if logs.FilterMessage("panic in an HTTP handler").Len() != 1 {
				t.Error("the panic was not logged")
			}
			if text := fmt.Sprint(logs.All(), w.Body); strings.Contains(text, secret) {
				t.Errorf("what the panic said is told: %s", text)
			}
		})
	}
}

// Neither prompts nor answers nor keys are in the logs, also where things go wrong.
func TestLogsHoldNoText(t *testing.T) {
	keys, err := ParseKeys(strings.NewReader("sk-secret tenant"), "keys")
	if err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zapcore.DebugLevel)
	cfg := Config{Logger: zap.New(core), APIKeys: keys}
	engines := []*fake{says("sk-secret answer"), fails(request.ErrEngineFailed, "sk-secret answer"), fails(request.Invalid("prompt", "sk-secret is bad"))}
	for _, e := range engines {
		for _, body := range []string{`{"prompt":"sk-secret"}`, `{"prompt":"sk-secret","stream":true}`, `{"prompt":"sk-secret"`, `{"prompt":"a","model":"sk-secret"}`} {
			do(newServer(e, cfg), "POST", "/v1/completions", body, "Authorization: Bearer sk-secret")
			do(newServer(e, cfg), "POST", "/sk-secret?key=sk-secret", body, "Authorization: Bearer sk-secret")
		}
	}
	if logs.Len() == 0 {
		t.Fatal("nothing was logged")
	}
	if text := fmt.Sprintf("%v %+v %#v", logs.All(), keys, keys); strings.Contains(text, "sk-secret") {
		t.Errorf("the logs tell: %s", text)
	}
}

// Fields are refused in an order of their own, so that an error is the same each time.
func TestUnsupportedNamesAreUnique(t *testing.T) {
	var names []string
	for _, u := range unsupported {
		names = append(names, u.name)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(unsupported) {
		t.Error("a name is there twice")
	}
}
