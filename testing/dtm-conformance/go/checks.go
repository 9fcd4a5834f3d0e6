package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Everything that is waited for ends within this bound, or the check fails.
const waitMax = 40 * time.Second

const pollEvery = 30 * time.Millisecond

// At most so many checks run beside each other.
const checksAtOnce = 8

// check is one line of the report. A check with a defect shows what DTM v1.19 does wrong: against
// DTM itself (CONFORMANCE_TARGET=dtm) its failure is expected and reported as known.
type check struct {
	name   string
	defect string
	run    func(*scenario) error
}

type tally struct {
	mutex                 sync.Mutex
	passed, failed, known int
}

func (t *tally) report(c check, problem error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	switch {
	case problem == nil:
		t.passed++
		fmt.Printf("ok %s\n", c.name)
	case c.defect != "" && os.Getenv("CONFORMANCE_TARGET") == "dtm":
		t.known++
		fmt.Printf("known %s: DTM defect %s: %v\n", c.name, c.defect, problem)
	default:
		t.failed++
		fmt.Printf("not ok %s: %v\n", c.name, problem)
	}
}

func (t *tally) finish() int {
	line := fmt.Sprintf("%d passed, %d failed", t.passed, t.failed)
	if t.known > 0 {
		line += fmt.Sprintf(", %d known", t.known)
	}
	fmt.Println(line)
	if t.failed > 0 || t.passed == 0 {
		return 1
	}
	return 0
}

func (t *tally) run(world *world, checks []check) {
	slots := make(chan struct{}, checksAtOnce)
	var running sync.WaitGroup
	for number, c := range checks {
		running.Add(1)
		slots <- struct{}{}
		go func(number int, c check) {
			defer running.Done()
			defer func() { <-slots }()
			t.report(c, runCheck(world, number, c))
		}(number, c)
	}
	running.Wait()
}

func runCheck(world *world, number int, c check) (problem error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			problem = fmt.Errorf("panic: %v", thrown)
		}
	}()
	scenario, err := world.newScenario(number)
	if err != nil {
		return err
	}
	return c.run(scenario)
}

// eventually polls until the condition returns nil, and fails with its last reason at the bound.
func eventually(condition func() error) error { return within(waitMax, condition) }

func within(bound time.Duration, condition func() error) error {
	deadline := time.Now().Add(bound)
	for {
		reason := condition()
		if reason == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %v: %w", bound, reason)
		}
		time.Sleep(pollEvery)
	}
}

func expectEqual(what string, got, wanted any) error {
	if left, right := fmt.Sprint(got), fmt.Sprint(wanted); left != right {
		return fmt.Errorf("%s: got %s, wanted %s", what, left, right)
	}
	return nil
}

// expectEndOr: DTM answers after one round of calls, with the word; who waits for the end answers success.
func expectEndOr(what string, err error, word string) error {
	if err == nil {
		return nil
	}
	return expectError(what, err, word)
}

func expectError(what string, err error, text string) error {
	if err == nil {
		return fmt.Errorf("%s: no error", what)
	}
	return expectContains(what, err.Error(), text)
}

// all is the first problem of several expectations, in their order. Each of them is evaluated.
func all(problems ...error) error {
	for _, problem := range problems {
		if problem != nil {
			return problem
		}
	}
	return nil
}

var errBroken = errors.New("the branch is broken for a moment")
