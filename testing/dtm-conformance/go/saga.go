package main

import (
	"errors"
	"fmt"

	"github.com/dtm-labs/client/dtmcli"
)

const amount = 30

type transfer struct {
	Amount int `json:"amount"`
}

var sagaChecks = []check{
	{name: "saga: wait, both steps succeed", run: sagaWaits},
	{name: "saga: without wait, the answer comes before the branches", run: sagaDoesNotWait},
	{name: "saga: wait, the second step fails", run: sagaFails},
	{name: "saga: without wait, the second step fails", run: sagaFailsUnwaited},
	{name: "saga: a failure by its text in a 200", run: sagaFailsByText},
	{name: "saga: an ongoing step is asked again", run: sagaOngoing},
	{name: "saga: an answer lost after the commit, the barrier filters the repetition", run: sagaRepeats},
	{name: "saga: a broken compensation is asked again", run: sagaCompensatesAgain},
	{name: "saga: submitted again after its end", run: sagaAgain},
	{name: "saga: a step without a compensation", run: sagaWithoutCompensation},
}

// transferSaga moves the amount from a to b, behind barriers.
func (s *scenario) transferSaga() *dtmcli.Saga {
	saga := dtmcli.NewSaga(s.dtm, s.gid).
		Add(s.on("out", s.guarded(s.adjust("a", -amount))), s.on("outBack", s.guarded(s.adjust("a", amount))), transfer{amount}).
		Add(s.on("in", s.guarded(s.adjust("b", amount))), s.on("inBack", s.guarded(s.adjust("b", -amount))), transfer{amount})
	saga.RetryInterval = 1
	return saga
}

func (s *scenario) expectTransferred() error {
	return all(
		s.untilStatus("succeed"),
		s.expectBalances("a=970+0", "b=1030+0"),
		s.expectBarrier("01:action:action", "02:action:action"),
		s.expectBranches("01:compensate:prepared", "01:action:succeed", "02:compensate:prepared", "02:action:succeed"),
	)
}

// expectRolledBack: the failed step left no row of its own, so its compensation is a null compensation.
func (s *scenario) expectRolledBack() error {
	return all(
		s.expectUndone(),
		s.expectBranches("01:compensate:succeed", "01:action:succeed", "02:compensate:succeed", "02:action:failed"),
	)
}

// expectUndone is what the services themselves see of a roll back.
func (s *scenario) expectUndone() error {
	return all(
		s.untilStatus("failed"),
		s.expectBalances("a=1000+0", "b=1000+0"),
		s.expectBarrier("01:action:action", "01:compensate:compensate", "02:action:compensate", "02:compensate:compensate"),
	)
}

func sagaWaits(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferSaga()
	saga.WaitResult = true
	return all(
		saga.Submit(),
		s.expectOrder("out:01:action", "in:02:action"),
		s.expectTransferred(),
		expectEqual("body of the first call", s.received()[0].body, `{"amount":30}`),
		expectEqual("trans_type of the first call", s.received()[0].query.Get("trans_type"), "saga"),
		expectEqual("gid of the first call", s.received()[0].query.Get("gid"), s.gid),
	)
}

func sagaDoesNotWait(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	answered := make(chan struct{})
	saga := s.transferSaga()
	out := s.handlers["out"]
	s.on("out", func(c call) error {
		<-answered
		return out(c)
	})
	err := saga.Submit()
	close(answered)
	return all(err, s.expectTransferred(), s.expectOrder("out:01:action", "in:02:action"))
}

func sagaFails(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferSaga()
	s.on("in", fail)
	saga.WaitResult = true
	err := saga.Submit()
	return all(
		expectError("submit", err, "FAILURE"),
		s.expectRolledBack(),
		s.expectOrder("out:01:action", "in:02:action", "inBack:02:compensate", "outBack:01:compensate"),
		s.expectReason("in return failed: "),
		s.expectReason("FAILURE"),
	)
}

func sagaFailsUnwaited(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferSaga()
	s.on("in", fail)
	return all(
		saga.Submit(),
		s.expectRolledBack(),
		s.expectOrder("out:01:action", "in:02:action", "inBack:02:compensate", "outBack:01:compensate"),
	)
}

// textFailure is answered with status 200 and a body that says FAILURE.
type textFailure struct{}

func (textFailure) Error() string { return "" }

func sagaFailsByText(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferSaga()
	s.on("in", func(call) error { return textFailure{} })
	saga.WaitResult = true
	err := saga.Submit()
	return all(expectError("submit", err, "FAILURE"), s.expectRolledBack())
}

func sagaOngoing(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferSaga()
	s.on("in", atMost(2, dtmcli.ErrOngoing, s.guarded(s.adjust("b", amount))))
	return all(
		saga.Submit(),
		s.expectTransferred(),
		s.expectOrder("out:01:action", "in:02:action", "in:02:action", "in:02:action"),
	)
}

func sagaRepeats(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferSaga()
	out := s.guarded(s.adjust("a", -amount))
	s.on("out", func(c call) error {
		err := out(c)
		if s.count("out") == 1 {
			return errors.Join(err, errBroken)
		}
		return err
	})
	return all(
		saga.Submit(),
		s.expectTransferred(),
		s.expectOrder("out:01:action", "out:01:action", "in:02:action"),
	)
}

func sagaCompensatesAgain(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferSaga()
	s.on("in", fail)
	s.on("outBack", atMost(1, errBroken, s.guarded(s.adjust("a", amount))))
	return all(
		saga.Submit(),
		s.expectRolledBack(),
		s.expectOrder("out:01:action", "in:02:action", "inBack:02:compensate", "outBack:01:compensate", "outBack:01:compensate"),
	)
}

func sagaAgain(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferSaga()
	saga.WaitResult = true
	if err := saga.Submit(); err != nil {
		return err
	}
	return all(
		expectError("second submit", saga.Submit(), "current status 'succeed', cannot sumbmit. FAILURE"),
		s.expectTransferred(),
		s.expectOrder("out:01:action", "in:02:action"),
	)
}

func sagaWithoutCompensation(s *scenario) error {
	saga := dtmcli.NewSaga(s.dtm, s.gid).
		Add(s.on("one", succeed), "", nil).
		Add(s.on("two", fail), s.on("twoBack", succeed), nil)
	saga.WaitResult = true
	err := saga.Submit()
	return all(
		expectError("submit", err, "FAILURE"),
		s.untilStatus("failed"),
		s.expectOrder("one:01:action", "two:02:action", "twoBack:02:compensate"),
		expectEqual("body of nil", fmt.Sprint(s.received()[0].body), "null"),
	)
}
