package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/dtm-labs/client/dtmcli"
	"github.com/dtm-labs/client/dtmcli/dtmimp"
)

// betterChecks are what DTM v1.19 itself does wrong; each names the defect.
var betterChecks = []check{
	{name: "better: a saga submitted again while it runs does not repeat what is done", defect: "9.1", run: resubmitRunning},
	{name: "better: a saga of more than 8 s is waited for", defect: "9.3", run: longSagaIsWaitedFor},
	{name: "better: two hanging sagas do not wait for each other", defect: "9.4", run: recoveryIsParallel},
	{name: "better: a branch registered again is the same branch", defect: "9.13", run: registerAgain},
	{name: "better: a tcc submitted again before its confirms is not finished", defect: "9.18", run: resubmitTcc},
	{name: "better: unreadable orders are refused and not stored", defect: "9.22", run: unreadableOrders},
}

func resubmitRunning(s *scenario) error {
	saga := dtmcli.NewSaga(s.dtm, s.gid).
		Add(s.on("one", succeed), "", nil).
		Add(s.on("two", func(call) error {
			if s.count("two") == 1 {
				return dtmcli.ErrOngoing
			}
			return nil
		}), "", nil)
	saga.RetryInterval = 1
	if err := saga.Submit(); err != nil {
		return err
	}
	called := eventually(func() error { return expectEqual("a call of the second step", s.count("two") > 0, true) })
	return all(called, saga.Submit(), s.untilStatus("succeed"), expectEqual("calls of the first step", s.count("one"), 1))
}

const longStep = 2400 * time.Millisecond

func longSagaIsWaitedFor(s *scenario) error {
	saga := dtmcli.NewSaga(s.dtm, s.gid)
	for _, name := range []string{"one", "two", "three", "four"} {
		// A step that takes its time is the case itself.
		saga.Add(s.on(name, func(call) error { time.Sleep(longStep); return nil }), "", nil)
	}
	saga.WaitResult = true
	// Whoever does not wait so long must not call it a failure: it succeeds.
	return all(
		expectEndOr("submit", saga.Submit(), "ONGOING"),
		s.untilStatus("succeed"),
		s.expectOrder("one:01:action", "two:02:action", "three:03:action", "four:04:action"),
	)
}

// recoveryIsParallel: two sagas whose first answers were "ongoing" meet in their second calls.
func recoveryIsParallel(s *scenario) error {
	together := newMeeting(2)
	gids := []string{s.gid + "-a", s.gid + "-b"}
	for _, gid := range gids {
		saga := dtmcli.NewSaga(s.dtm, gid).Add(s.on("step"+gid, atMost(1, dtmcli.ErrOngoing, together.arrive)), "", nil)
		saga.RetryInterval = 1
		if err := saga.Submit(); err != nil {
			return err
		}
	}
	select {
	case <-together.met:
		return nil
	case <-time.After(waitMax / 4):
		return fmt.Errorf("the second calls never overlapped: %s", s.order())
	}
}

func registerAgain(s *scenario) error {
	tcc, err := s.orphan(0)
	if err != nil {
		return err
	}
	branch := map[string]string{
		"branch_id": "01", "data": "{}", "confirm": s.on("confirm", succeed), "cancel": s.on("cancel", succeed),
	}
	return all(
		dtmimp.TransRegisterBranch(&tcc.TransBase, branch, "registerBranch"),
		dtmimp.TransRegisterBranch(&tcc.TransBase, branch, "registerBranch"),
		s.submitOrphan(tcc),
		s.untilStatus("succeed"),
		s.expectOrder("confirm:01:confirm"),
	)
}

func (s *scenario) submitOrphan(tcc *dtmcli.Tcc) error {
	return dtmimp.TransCallDtm(&tcc.TransBase, "submit")
}

func resubmitTcc(s *scenario) error {
	tcc, err := s.orphan(0)
	if err != nil {
		return err
	}
	_, err = tcc.CallBranch(nil, s.on("try", succeed), s.on("confirm", atMost(2, dtmcli.ErrOngoing, succeed)), "")
	if err := all(err, s.submitOrphan(tcc)); err != nil {
		return err
	}
	called := eventually(func() error { return expectEqual("calls of the confirm", s.count("confirm"), 1) })
	err = all(called, s.submitOrphan(tcc), s.untilStatus("succeed"), expectEqual("calls of the confirm", s.count("confirm"), 3))
	if err != nil {
		return err
	}
	return s.expectBranches("01:cancel:prepared", "01:confirm:succeed")
}

func unreadableOrders(s *scenario) error {
	saga := dtmcli.NewSaga(s.dtm, s.gid).
		Add(s.on("one", succeed), "", nil).
		Add(s.on("two", succeed), "", nil).
		SetConcurrent().
		AddBranchOrder(0, []int{1}).
		AddBranchOrder(1, []int{0})
	err := saga.Submit()
	answer, queryErr := s.query()
	stopped := s.stop()
	if err == nil {
		return fmt.Errorf("a cycle was accepted; forceStop: %v", stopped)
	}
	return all(queryErr, expectEqual("stored", answer.Transaction != nil, false))
}

// stop ends a transaction that would never end.
func (s *scenario) stop() error {
	err := dtmimp.TransCallDtm(dtmimp.NewTransBase(s.gid, "saga", s.dtm, ""), "forceStop")
	if err != nil && strings.Contains(err.Error(), "no TransGlobal with gid") {
		return nil
	}
	return err
}
