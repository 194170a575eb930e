package server

import (
	"net/http"
	"strings"
)

// modelObject is OpenAI's model object, with vLLM's max_model_len.
type modelObject struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	MaxModelLen int    `json:"max_model_len"`
}

type modelList struct {
	Object string        `json:"object"`
	Data   []modelObject `json:"data"`
}

func (s *server) modelObject() modelObject {
	m := s.engine.Model()
	return modelObject{ID: m.Name, Object: "model", Created: m.Created.Unix(), OwnedBy: "kvasir", MaxModelLen: m.ContextLength}
}

func (s *server) listModels(w *response, _ *http.Request) error {
	return w.json(http.StatusOK, modelList{Object: "list", Data: []modelObject{s.modelObject()}})
}

// getModel serves /v1/models/{name}; names may have slashes in them.
func (s *server) getModel(w *response, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, modelPath)
	if m := s.engine.Model(); name != m.Name {
		return modelNotFound(name, m.Name)
	}
	return w.json(http.StatusOK, s.modelObject())
}

type statusBody struct {
	Status string `json:"status"`
}

func (s *server) health(w *response, _ *http.Request) error {
	return probe(w, s.engine.Health(), "unhealthy")
}

func (s *server) ready(w *response, _ *http.Request) error {
	return probe(w, s.engine.Ready(), "not_ready")
}

// probe answers a health question. Not being ready is a state and not a failed request, so it is answered here rather than logged as one.
func probe(w *response, err error, code string) error {
	if err != nil {
		w.fail(&apiError{status: http.StatusServiceUnavailable, kind: kindServer, code: code, message: err.Error()})
		return nil
	}
	return w.json(http.StatusOK, statusBody{"ok"})
}
