package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/dtm-labs/client/dtmcli"
)

var messageChecks = []check{
	{name: "msg: doAndSubmit, the local transaction commits", run: msgCommits},
	{name: "msg: doAndSubmit, the local transaction fails", run: msgFails},
	{name: "msg: doAndSubmit, in doubt, the local transaction had committed", run: msgDoubtCommitted},
	{name: "msg: doAndSubmit, in doubt, the local transaction had not committed", run: msgDoubtNotCommitted},
	{name: "msg: the program dies after its commit, the back-check delivers", run: msgDiesAfterCommit},
	{name: "msg: the program dies before its commit, the back-check ends it", run: msgDiesBeforeCommit},
	{name: "msg: an ongoing back-check is asked again", run: msgBackCheckOngoing},
	{name: "msg: plain, without prepare", run: msgPlain},
	{name: "msg: a failing action is asked again for ever", run: msgNeverRollsBack},
	{name: "msg: an answer lost after the commit, the barrier filters the repetition", run: msgRepeats},
	{name: "msg: concurrent, both actions are in flight at once", run: msgConcurrent},
	{name: "msg: delayed", run: msgDelayed},
	{name: "msg: to the subscribers of a topic", defect: "9.21", run: msgTopic},
	{name: "msg: to an unknown topic", run: msgUnknownTopic},
}

func (s *scenario) message() (msg *dtmcli.Msg, queryPrepared string) {
	msg = dtmcli.NewMsg(s.dtm, s.gid).Add(s.on("in", s.guarded(s.adjust("b", amount))), transfer{amount})
	msg.RetryInterval = 1
	return msg, s.on("query", func(c call) error {
		barrier, err := dtmcli.BarrierFromQuery(c.query)
		if err != nil {
			return err
		}
		return barrier.QueryPrepared(s.db)
	})
}

func (s *scenario) expectDelivered() error {
	return all(
		s.untilStatus("succeed"),
		s.expectBalances("a=970+0", "b=1030+0"),
		s.expectBarrier("00:msg:msg", "01:action:action"),
		s.expectBranches("01:action:succeed"),
	)
}

// expectNotDelivered takes the barrier rows that the local side has left.
func (s *scenario) expectNotDelivered(barrier ...string) error {
	return all(
		s.untilStatus("failed"),
		s.expectBalances("a=1000+0", "b=1000+0"),
		s.expectBarrier(barrier...),
		expectEqual("calls of the action", s.count("in"), 0),
	)
}

func msgCommits(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.message()
	return all(
		msg.DoAndSubmitDB(query, s.db, s.adjust("a", -amount)),
		s.expectDelivered(),
		s.expectOrder("in:01:action"),
		expectEqual("trans_type of the call", s.received()[0].query.Get("trans_type"), "msg"),
		expectEqual("body of the call", s.received()[0].body, `{"amount":30}`),
	)
}

func msgFails(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.message()
	err := msg.DoAndSubmitDB(query, s.db, s.adjust("a", -2*startBalance))
	return all(expectError("doAndSubmit", err, "FAILURE"), s.expectNotDelivered(), s.expectOrder())
}

func msgDoubtCommitted(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.message()
	err := msg.DoAndSubmit(query, func(barrier *dtmcli.BranchBarrier) error {
		return all(barrier.CallWithDB(s.db, s.adjust("a", -amount)), errBroken)
	})
	return all(
		expectError("doAndSubmit", err, errBroken.Error()),
		s.expectDelivered(),
		s.expectOrder("query:00:msg", "in:01:action"),
	)
}

func msgDoubtNotCommitted(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.message()
	err := msg.DoAndSubmit(query, func(*dtmcli.BranchBarrier) error { return errBroken })
	return all(
		expectError("doAndSubmit", err, errBroken.Error()),
		s.expectNotDelivered("00:msg:rollback"),
		s.expectOrder("query:00:msg"),
	)
}

// commitLocally is the local transaction of a message, as doAndSubmit would run it.
func (s *scenario) commitLocally() error {
	barrier, err := dtmcli.BarrierFrom("msg", s.gid, "00", "msg")
	if err != nil {
		return err
	}
	return barrier.CallWithDB(s.db, s.adjust("a", -amount))
}

func msgDiesAfterCommit(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.message()
	msg.TimeoutToFail = 3
	return all(
		msg.Prepare(query),
		s.commitLocally(),
		s.expectDelivered(),
		s.expectOrder("query:00:msg", "in:01:action"),
	)
}

func msgDiesBeforeCommit(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.message()
	msg.TimeoutToFail = 3
	if err := all(msg.Prepare(query), s.expectNotDelivered("00:msg:rollback")); err != nil {
		return err
	}
	if err := s.commitLocally(); !errors.Is(err, dtmcli.ErrDuplicated) {
		return fmt.Errorf("a late local transaction: got %v, wanted %w", err, dtmcli.ErrDuplicated)
	}
	return all(
		expectError("a late submit", msg.Submit(), "current status 'failed', cannot sumbmit. FAILURE"),
		s.expectNotDelivered("00:msg:rollback"),
		s.expectOrder("query:00:msg"),
	)
}

func msgBackCheckOngoing(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.message()
	msg.TimeoutToFail = 3
	s.on("query", atMost(1, dtmcli.ErrOngoing, s.handlers["query"]))
	return all(
		msg.Prepare(query),
		s.commitLocally(),
		s.expectDelivered(),
		s.expectOrder("query:00:msg", "query:00:msg", "in:01:action"),
	)
}

func msgPlain(s *scenario) error {
	msg := dtmcli.NewMsg(s.dtm, s.gid).Add(s.on("one", succeed), transfer{1}).Add(s.on("two", succeed), transfer{2})
	msg.WaitResult = true
	return all(
		msg.Submit(),
		s.expectOrder("one:01:action", "two:02:action"),
		s.untilStatus("succeed"),
		expectEqual("body of the second call", s.received()[1].body, `{"amount":2}`),
	)
}

func msgNeverRollsBack(s *scenario) error {
	msg := dtmcli.NewMsg(s.dtm, s.gid).Add(s.on("one", atMost(1, dtmcli.ErrFailure, succeed)), nil)
	msg.RetryInterval = 1
	msg.WaitResult = true
	return all(
		expectEndOr("submit", msg.Submit(), "FAILURE"),
		s.untilStatus("succeed"),
		s.expectOrder("one:01:action", "one:01:action"),
	)
}

func msgRepeats(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.message()
	in := s.handlers["in"]
	s.on("in", func(c call) error {
		err := in(c)
		if s.count("in") == 1 {
			return errors.Join(err, errBroken)
		}
		return err
	})
	return all(
		msg.DoAndSubmitDB(query, s.db, s.adjust("a", -amount)),
		s.expectDelivered(),
		s.expectOrder("in:01:action", "in:01:action"),
	)
}

func msgConcurrent(s *scenario) error {
	together := newMeeting(2)
	msg := dtmcli.NewMsg(s.dtm, s.gid).Add(s.on("one", together.arrive), nil).Add(s.on("two", together.arrive), nil)
	msg.Concurrent = true
	msg.WaitResult = true
	return all(msg.Submit(), s.untilStatus("succeed"), expectEqual("calls", len(s.received()), 2))
}

const delaySeconds = 3

// DTM keeps times in whole seconds, so a delay may be up to one second shorter.
const delayMin = (delaySeconds - 1) * time.Second

func msgDelayed(s *scenario) error {
	called := make(chan time.Time, 1)
	msg := dtmcli.NewMsg(s.dtm, s.gid).SetDelay(delaySeconds).Add(s.on("one", func(call) error {
		called <- time.Now()
		return nil
	}), nil)
	submitted := time.Now()
	if err := all(msg.Submit(), s.untilStatus("succeed"), s.expectOrder("one:01:action")); err != nil {
		return err
	}
	if waited := (<-called).Sub(submitted); waited < delayMin {
		return fmt.Errorf("delivered after %v", waited)
	}
	return nil
}

// A node of DTM learns of a topic up to 3 s later.
const topicKnownMax = 15 * time.Second

func (s *scenario) subscribe(topic, target string) error {
	query := url.Values{"topic": {topic}, "url": {target}, "remark": {"conformance"}}
	body, status, err := get(s.dtm + "/subscribe?" + query.Encode())
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("subscribe: %d %s", status, body)
	}
	return err
}

func msgTopic(s *scenario) error {
	topic := "topic" + s.key
	if err := all(s.subscribe(topic, s.on("one", succeed)), s.subscribe(topic, s.on("two", succeed))); err != nil {
		return err
	}
	// Until a node has learnt of a topic it refuses and stores nothing.
	submit := func() error {
		return dtmcli.NewMsg(s.dtm, s.gid).AddTopic(topic, transfer{amount}).Submit()
	}
	return all(
		within(topicKnownMax, submit),
		s.untilStatus("succeed"),
		s.expectOrder("one:01-01:action", "two:01-02:action"),
	)
}

func msgUnknownTopic(s *scenario) error {
	err := dtmcli.NewMsg(s.dtm, s.gid).AddTopic("topic"+s.key, nil).Submit()
	answer, queryErr := s.query()
	return all(
		expectError("submit", err, "topic not found"),
		queryErr,
		expectEqual("stored", answer.Transaction != nil, false),
	)
}
