package main

import (
	"fmt"
	"time"

	"github.com/dtm-labs/client/dtmcli"
)

var optionChecks = []check{
	{name: "options: gids are new each time", run: gidsAreNew},
	{name: "options: branch_headers reach action and compensation", run: headersReach},
	{name: "options: request_timeout ends a call, which is repeated", run: requestTimesOut},
	{name: "options: retry_limit used up rolls back", run: retryLimitRollsBack},
	{name: "options: timeout_to_fail of a saga rolls back", run: sagaTimesOut},
	{name: "options: an unknown transaction is shown as none", run: unknownTransaction},
}

func gidsAreNew(s *scenario) error {
	seen := map[string]bool{}
	const gids = 50
	for range gids {
		seen[dtmcli.MustGenGid(s.dtm)] = true
	}
	return expectEqual("different gids", len(seen), gids)
}

func headersReach(s *scenario) error {
	saga := dtmcli.NewSaga(s.dtm, s.gid).Add(s.on("one", fail), s.on("oneBack", succeed), nil)
	saga.BranchHeaders = map[string]string{"X-Tenant": "t1", "authorization": "Bearer x"}
	if err := all(saga.Submit(), s.untilStatus("failed"), s.expectOrder("one:01:action", "oneBack:01:compensate")); err != nil {
		return err
	}
	for _, c := range s.received() {
		err := all(
			expectEqual("X-Tenant of "+c.path, c.headers.Get("X-Tenant"), "t1"),
			expectEqual("Authorization of "+c.path, c.headers.Get("Authorization"), "Bearer x"),
			expectEqual("Content-Type of "+c.path, c.headers.Get("Content-Type"), "application/json"),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func requestTimesOut(s *scenario) error {
	held := make(chan struct{})
	defer close(held)
	started := make(chan time.Time, 2)
	saga := dtmcli.NewSaga(s.dtm, s.gid).Add(s.on("one", func(call) error {
		started <- time.Now()
		if s.count("one") == 1 {
			<-held
		}
		return nil
	}), "", nil)
	saga.RequestTimeout = 2
	saga.RetryInterval = 1
	err := all(saga.Submit(), s.untilStatus("succeed"), s.expectOrder("one:01:action", "one:01:action"))
	if err != nil {
		return err
	}
	if apart := -time.Until(<-started) + time.Until(<-started); apart < 2*time.Second {
		return fmt.Errorf("repeated after %v, before the first call's timeout", apart)
	}
	return nil
}

func retryLimitRollsBack(s *scenario) error {
	saga := dtmcli.NewSaga(s.dtm, s.gid).
		Add(s.on("one", succeed), s.on("oneBack", succeed), nil).
		Add(s.on("two", func(call) error { return errBroken }), s.on("twoBack", succeed), nil)
	saga.RetryLimit = 2
	saga.RetryInterval = 1
	return all(
		saga.Submit(),
		s.untilStatus("failed"),
		s.expectOrder("one:01:action", "two:02:action", "two:02:action", "two:02:action",
			"twoBack:02:compensate", "oneBack:01:compensate"),
		s.expectReason("RetryCount is greater than RetryLimit, RetryLimit: 2"),
	)
}

func sagaTimesOut(s *scenario) error {
	saga := dtmcli.NewSaga(s.dtm, s.gid).
		Add(s.on("one", succeed), s.on("oneBack", succeed), nil).
		Add(s.on("two", func(call) error { return dtmcli.ErrOngoing }), s.on("twoBack", succeed), nil)
	saga.TimeoutToFail = 3
	saga.RetryInterval = 1
	return all(
		saga.Submit(),
		s.untilStatus("failed"),
		expectEqual("calls of oneBack", s.count("oneBack"), 1),
		expectEqual("calls of twoBack", s.count("twoBack"), 1),
		s.expectReason("Timeout after 3 seconds"),
	)
}

func unknownTransaction(s *scenario) error {
	answer, err := s.query()
	return all(
		err,
		expectEqual("transaction", answer.Transaction == nil, true),
		expectEqual("branches", answer.Branches != nil && len(answer.Branches) == 0, true),
	)
}
