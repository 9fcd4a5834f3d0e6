package main

import (
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/dtm-labs/client/dtmcli"
	"github.com/go-redis/redis/v8"
)

// world is what all checks share: the orchestrator under test, the databases, the business service.
type world struct {
	dtm string
	// grpcDtm is the host and the port of the orchestrator's gRPC API, and grpcBranches those of the branches over gRPC.
	grpcDtm, grpcBranches string
	db                    *sql.DB
	// bankConf names the same database for the client, which opens a connection for each branch of an xa.
	bankConf dtmcli.DBConf
	redis    *redis.Client
	service  *service
}

// scenario is one check's own part of the world: a gid, branch URLs, and the log of their calls.
type scenario struct {
	*world
	gid      string
	key      string
	mutex    sync.Mutex
	handlers map[string]handler
	calls    []call
	// program is what the scenario's workflow does.
	program workflowFunc
}

func (w *world) newScenario(number int) (*scenario, error) {
	random := make([]byte, 6)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	key := fmt.Sprintf("c%d-%s", number, hex.EncodeToString(random))
	s := &scenario{world: w, key: key, gid: "go-" + key, handlers: map[string]handler{}}
	w.service.add(key, s)
	return s, nil
}

// on sets what a branch does and returns its URL.
func (s *scenario) on(path string, do handler) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.handlers[path] = do
	return s.service.url + "/" + s.key + "/" + path
}

func (s *scenario) serve(received call) error {
	s.mutex.Lock()
	s.calls = append(s.calls, received)
	do := s.handlers[received.path]
	s.mutex.Unlock()
	if do == nil {
		return fmt.Errorf("no branch %s", received.path)
	}
	return do(received)
}

func (s *scenario) received() []call {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]call{}, s.calls...)
}

// order is the calls so far, as `path:branch_id:op`, divided by a blank.
func (s *scenario) order() string {
	words := []string{}
	for _, c := range s.received() {
		words = append(words, fmt.Sprintf("%s:%s:%s", c.path, c.query.Get("branch_id"), c.query.Get("op")))
	}
	return strings.Join(words, " ")
}

// count is how many calls one branch had.
func (s *scenario) count(path string) int {
	n := 0
	for _, c := range s.received() {
		if c.path == path {
			n++
		}
	}
	return n
}

func (s *scenario) expectOrder(wanted ...string) error {
	return expectEqual("calls", s.order(), strings.Join(wanted, " "))
}

// atMost answers an error for the first calls of a branch, then what it does.
func atMost(times int, err error, then handler) handler {
	var mutex sync.Mutex
	return func(c call) error {
		mutex.Lock()
		times--
		left := times
		mutex.Unlock()
		if left >= 0 {
			return err
		}
		return then(c)
	}
}

func succeed(call) error { return nil }

func fail(call) error { return dtmcli.ErrFailure }
