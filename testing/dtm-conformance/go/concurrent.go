package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dtm-labs/client/dtmcli"
)

var concurrentChecks = []check{
	{name: "concurrent saga: all steps are in flight at once", run: concurrentTogether},
	{name: "concurrent saga: order, the last step waits for both others", run: concurrentOrdered},
	{name: "concurrent saga: order against the numbers", run: concurrentAgainstNumbers},
	{name: "concurrent saga: order, the last step fails, compensations in the reversed order", run: concurrentFails},
	{name: "concurrent saga: one of two fails", run: concurrentOneFails},
}

// meeting lets a caller pass when all the others are there too.
type meeting struct {
	mutex   sync.Mutex
	missing int
	met     chan struct{}
}

func newMeeting(of int) *meeting { return &meeting{missing: of, met: make(chan struct{})} }

// Shorter than a branch call's timeout of 3 s, so that the answer is this error.
const meetingMax = 2500 * time.Millisecond

func (m *meeting) arrive(call) error {
	m.mutex.Lock()
	m.missing--
	if m.missing == 0 {
		close(m.met)
	}
	m.mutex.Unlock()
	select {
	case <-m.met:
		return nil
	case <-time.After(meetingMax):
		m.mutex.Lock()
		m.missing++
		m.mutex.Unlock()
		return fmt.Errorf("the others did not come %w", dtmcli.ErrFailure)
	}
}

func concurrentTogether(s *scenario) error {
	together := newMeeting(3)
	saga := dtmcli.NewSaga(s.dtm, s.gid).SetConcurrent()
	for _, name := range []string{"one", "two", "three"} {
		saga.Add(s.on(name, together.arrive), "", nil)
	}
	saga.WaitResult = true
	return all(saga.Submit(), s.untilStatus("succeed"), expectEqual("calls", len(s.received()), 3))
}

func concurrentOrdered(s *scenario) error {
	if err := s.open("a", "b", "c"); err != nil {
		return err
	}
	saga := s.threeSteps(newMeeting(2))
	saga.WaitResult = true
	return all(
		saga.Submit(),
		s.untilStatus("succeed"),
		s.expectBalances("a=970+0", "b=970+0", "c=1060+0"),
		s.expectBarrier("01:action:action", "02:action:action", "03:action:action"),
		expectEqual("last call", lastOf(s.order()), "c:03:action"),
		expectEqual("calls", len(s.received()), 3),
	)
}

// threeSteps takes an amount from a and from b at once, then gives both to c.
func (s *scenario) threeSteps(together *meeting) *dtmcli.Saga {
	meetThen := func(do handler) handler {
		return func(c call) error { return all(together.arrive(c), do(c)) }
	}
	saga := dtmcli.NewSaga(s.dtm, s.gid).
		Add(s.on("a", meetThen(s.guarded(s.adjust("a", -amount)))), s.on("aBack", s.guarded(s.adjust("a", amount))), nil).
		Add(s.on("b", meetThen(s.guarded(s.adjust("b", -amount)))), s.on("bBack", s.guarded(s.adjust("b", amount))), nil).
		Add(s.on("c", s.guarded(s.adjust("c", 2*amount))), s.on("cBack", s.guarded(s.adjust("c", -2*amount))), nil).
		SetConcurrent().
		AddBranchOrder(2, []int{0, 1})
	saga.RetryInterval = 1
	return saga
}

func concurrentAgainstNumbers(s *scenario) error {
	saga := dtmcli.NewSaga(s.dtm, s.gid).
		Add(s.on("one", succeed), "", nil).
		Add(s.on("two", succeed), "", nil).
		Add(s.on("three", succeed), "", nil).
		SetConcurrent().
		AddBranchOrder(0, []int{1}).
		AddBranchOrder(1, []int{2})
	saga.WaitResult = true
	return all(saga.Submit(), s.untilStatus("succeed"), s.expectOrder("three:03:action", "two:02:action", "one:01:action"))
}

func concurrentFails(s *scenario) error {
	if err := s.open("a", "b", "c"); err != nil {
		return err
	}
	saga := s.threeSteps(newMeeting(2))
	s.on("c", fail)
	saga.WaitResult = true
	err := saga.Submit()
	words := strings.Fields(s.order())
	if len(words) < 4 {
		return fmt.Errorf("too few calls: %v", words)
	}
	return all(
		expectError("submit", err, "FAILURE"),
		s.untilStatus("failed"),
		s.expectBalances("a=1000+0", "b=1000+0", "c=1000+0"),
		s.expectBarrier("01:action:action", "01:compensate:compensate", "02:action:action", "02:compensate:compensate",
			"03:action:compensate", "03:compensate:compensate"),
		expectEqual("third and fourth call", strings.Join(words[2:4], " "), "c:03:action cBack:03:compensate"),
		expectEqual("calls", len(s.received()), 6),
	)
}

func concurrentOneFails(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	together := newMeeting(2)
	saga := s.transferSaga().SetConcurrent()
	out := s.guarded(s.adjust("a", -amount))
	done := newMeeting(2)
	s.on("out", func(c call) error { return all(together.arrive(c), out(c), done.arrive(c)) })
	// A compensation may overtake an action in flight; then the barrier rows would be others.
	s.on("in", func(c call) error { return all(together.arrive(c), done.arrive(c), fail(c)) })
	return all(saga.Submit(), s.expectUndone(), expectEqual("calls", len(s.received()), 4))
}

func lastOf(words string) string {
	fields := strings.Fields(words)
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}
