package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/dtm-labs/client/dtmcli"
)

// call is one request that a branch received.
type call struct {
	path    string
	query   url.Values
	headers http.Header
	body    string
}

type handler func(call) error

// service is the business service of all checks: a path belongs to one scenario by its first part.
type service struct {
	url       string
	mutex     sync.Mutex
	scenarios map[string]*scenario
}

func startService() (*service, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{url: "http://" + listener.Addr().String(), scenarios: map[string]*scenario{}}
	go func() {
		if err := http.Serve(listener, s); err != nil {
			panic(err)
		}
	}()
	return s, nil
}

func (s *service) add(key string, scenario *scenario) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.scenarios[key] = scenario
}

func (s *service) find(key string) *scenario {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.scenarios[key]
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 2)
	scenario := s.find(parts[0])
	if scenario == nil || len(parts) != 2 {
		http.NotFound(w, r)
		return
	}
	received := call{path: parts[1], query: r.URL.Query(), headers: r.Header, body: string(body)}
	status, answer := answerOf(scenario.serve(received))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		fmt.Println("# an answer was not written:", err)
	}
}

func answerOf(result error) (status int, answer any) {
	if errors.As(result, &textFailure{}) {
		return http.StatusOK, dtmcli.MapFailure
	}
	if result == nil {
		return http.StatusOK, dtmcli.MapSuccess
	}
	return dtmcli.Result2HttpJSON(result)
}
