package main

import (
	"errors"
	"time"

	"github.com/dtm-labs/client/dtmcli"
	"github.com/dtm-labs/client/dtmgrpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

var grpcChecks = []check{
	{name: "grpc: a new gid", run: grpcNewGid},
	{name: "grpc: reflection describes the service", run: grpcReflection},
	{name: "grpc: the health is told", defect: "no health service", run: grpcHealth},
	{name: "grpc saga: wait, both steps succeed", run: grpcSagaWaits},
	{name: "grpc saga: wait, the second step fails", run: grpcSagaFails},
	{name: "grpc saga: an ongoing step is asked again", run: grpcSagaOngoing},
	{name: "grpc saga: an answer lost after the commit, the barrier filters the repetition", run: grpcSagaRepeats},
	{name: "grpc saga: concurrent, in the order of its steps", run: grpcSagaConcurrent},
	{name: "grpc saga: one step is called over HTTP", run: grpcSagaHybrid},
	{name: "grpc saga: submitted again after its end", run: grpcSagaAgain},
	{name: "grpc tcc: two branches are confirmed, newest first", run: grpcTccConfirms},
	{name: "grpc tcc: a try fails, all are cancelled, newest first", run: grpcTccFails},
	{name: "grpc tcc: nested, three branches are confirmed, newest first", run: grpcTccNested},
	{name: "grpc tcc: the program dies before submit, the timeout cancels", run: grpcTccTimesOut},
	{name: "grpc msg: doAndSubmit, the local transaction commits", run: grpcMsgCommits},
	{name: "grpc msg: doAndSubmit, the local transaction fails", run: grpcMsgFails},
	{name: "grpc msg: doAndSubmit, in doubt, the local transaction had committed", run: grpcMsgDoubt},
	{name: "grpc msg: the program dies after its commit, the back-check delivers", run: grpcMsgDiesAfterCommit},
	{name: "grpc msg: the program dies before its commit, the back-check ends it", run: grpcMsgDiesBeforeCommit},
	{name: "grpc msg: an ongoing back-check is asked again", run: grpcMsgBackCheckOngoing},
}

func grpcNewGid(s *scenario) error {
	gid := dtmgrpc.MustGenGid(s.grpcDtm)
	return all(expectEqual("length of a gid", len(gid), 22))
}

// transferGrpcSaga moves the amount from a to b, behind barriers.
func (s *scenario) transferGrpcSaga() *dtmgrpc.SagaGrpc {
	saga := dtmgrpc.NewSagaGrpc(s.grpcDtm, s.gid).
		Add(s.onGrpc("out", s.guarded(s.adjust("a", -amount))), s.onGrpc("outBack", s.guarded(s.adjust("a", amount))), payload()).
		Add(s.onGrpc("in", s.guarded(s.adjust("b", amount))), s.onGrpc("inBack", s.guarded(s.adjust("b", -amount))), payload())
	saga.RetryInterval = 1
	return saga
}

func grpcSagaWaits(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferGrpcSaga()
	saga.WaitResult = true
	saga.BranchHeaders = map[string]string{"test_header": "test"}
	return all(
		saga.Submit(),
		s.expectTransferred(),
		s.expectOrder("out:01:action", "in:02:action"),
		expectEqual("trans_type of a call", s.received()[0].query.Get("trans_type"), "saga"),
		expectEqual("body of a call", s.received()[0].body, `{"amount":30}`),
		expectEqual("header of a call", s.received()[0].headers.Get("Test-Header"), "test"),
	)
}

func grpcSagaFails(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferGrpcSaga()
	s.onGrpc("in", fail)
	saga.WaitResult = true
	err := saga.Submit()
	return all(
		expectEqual("code of the answer", status.Code(err), codes.Aborted),
		expectEqual("a failure to the client", errors.Is(dtmgrpc.GrpcError2DtmError(err), dtmcli.ErrFailure), true),
		s.expectRolledBack(),
		s.expectOrder("out:01:action", "in:02:action", "inBack:02:compensate", "outBack:01:compensate"),
	)
}

func grpcSagaOngoing(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferGrpcSaga()
	s.onGrpc("out", atMost(1, dtmcli.ErrOngoing, s.guarded(s.adjust("a", -amount))))
	return all(saga.Submit(), s.expectTransferred(), expectEqual("calls of the step", s.count("out"), 2))
}

func grpcSagaRepeats(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferGrpcSaga()
	debit := s.guarded(s.adjust("a", -amount))
	lost := atMost(1, errBroken, succeed)
	s.onGrpc("out", func(c call) error { return all(debit(c), lost(c)) })
	return all(saga.Submit(), s.expectTransferred(), expectEqual("calls of the step", s.count("out"), 2))
}

func grpcSagaConcurrent(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferGrpcSaga().EnableConcurrent().AddBranchOrder(0, []int{1})
	saga.WaitResult = true
	return all(saga.Submit(), s.expectTransferred(), s.expectOrder("in:02:action", "out:01:action"))
}

func grpcSagaHybrid(s *scenario) error {
	saga := dtmgrpc.NewSagaGrpc(s.grpcDtm, s.gid).
		Add(s.onGrpc("out", succeed), s.onGrpc("outBack", succeed), payload()).
		Add(s.on("in", succeed), s.on("inBack", succeed), payload())
	saga.WaitResult = true
	return all(saga.Submit(), s.untilStatus("succeed"), s.expectOrder("out:01:action", "in:02:action"))
}

func grpcSagaAgain(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	saga := s.transferGrpcSaga()
	saga.WaitResult = true
	return all(
		saga.Submit(),
		expectError("submit", saga.Submit(), "current status 'succeed', cannot sumbmit. FAILURE"),
		s.expectOrder("out:01:action", "in:02:action"),
	)
}

func (s *scenario) callGrpcBranch(tcc *dtmgrpc.TccGrpc, name string, change int) error {
	s.freezer(name, change)
	try, confirm, cancel := s.grpcFreezer(name)
	return tcc.CallBranch(payload(), try, confirm, cancel, &emptypb.Empty{})
}

// grpcFreezer is where the branches that freezer has made are called over gRPC.
func (s *scenario) grpcFreezer(name string) (try, confirm, cancel string) {
	return s.grpcURL("try" + name), s.grpcURL("confirm" + name), s.grpcURL("cancel" + name)
}

func retryGrpcSoon(tcc *dtmgrpc.TccGrpc) { tcc.RetryInterval = 1 }

func (s *scenario) transferGrpcTcc(tcc *dtmgrpc.TccGrpc) error {
	return all(s.callGrpcBranch(tcc, "a", -amount), s.callGrpcBranch(tcc, "b", amount))
}

func grpcTccConfirms(s *scenario) error {
	return all(
		s.open("a", "b"),
		dtmgrpc.TccGlobalTransaction2(s.grpcDtm, s.gid, retryGrpcSoon, s.transferGrpcTcc),
		s.expectConfirmed(),
		s.expectOrder("trya:01:try", "tryb:02:try", "confirmb:02:confirm", "confirma:01:confirm"),
		expectEqual("body of a confirm", s.received()[2].body, `{"amount":30}`),
	)
}

func grpcTccFails(s *scenario) error {
	err := dtmgrpc.TccGlobalTransaction2(s.grpcDtm, s.gid, retryGrpcSoon, func(tcc *dtmgrpc.TccGrpc) error {
		s.onGrpc("tryb", fail)
		for _, path := range []string{"trya", "confirma", "cancela", "confirmb", "cancelb"} {
			s.onGrpc(path, succeed)
		}
		for _, name := range []string{"a", "b"} {
			try, confirm, cancel := s.grpcFreezer(name)
			if err := tcc.CallBranch(payload(), try, confirm, cancel, &emptypb.Empty{}); err != nil {
				return err
			}
		}
		return nil
	})
	return all(
		expectEqual("code of the try", status.Code(err), codes.Aborted),
		s.untilStatus("failed"),
		s.expectOrder("trya:01:try", "tryb:02:try", "cancelb:02:cancel", "cancela:01:cancel"),
	)
}

func grpcTccNested(s *scenario) error {
	for _, path := range []string{"trya", "confirma", "cancela", "confirmb", "cancelb", "tryc", "confirmc", "cancelc"} {
		s.onGrpc(path, succeed)
	}
	s.onGrpc("tryb", func(c call) error {
		inner := &dtmgrpc.TccGrpc{}
		inner.Dtm, inner.Gid, inner.TransType = c.query.Get("dtm"), c.query.Get("gid"), "tcc"
		inner.BranchIDGen.BranchID = c.query.Get("branch_id")
		try, confirm, cancel := s.grpcFreezer("c")
		return inner.CallBranch(payload(), try, confirm, cancel, &emptypb.Empty{})
	})
	return all(
		dtmgrpc.TccGlobalTransaction2(s.grpcDtm, s.gid, retryGrpcSoon, func(tcc *dtmgrpc.TccGrpc) error {
			for _, name := range []string{"a", "b"} {
				try, confirm, cancel := s.grpcFreezer(name)
				if err := tcc.CallBranch(payload(), try, confirm, cancel, &emptypb.Empty{}); err != nil {
					return err
				}
			}
			return nil
		}),
		s.untilStatus("succeed"),
		s.expectOrder("trya:01:try", "tryb:02:try", "tryc:0201:try",
			"confirmc:0201:confirm", "confirmb:02:confirm", "confirma:01:confirm"),
	)
}

func grpcTccTimesOut(s *scenario) error {
	for _, path := range []string{"trya", "confirma", "cancela"} {
		s.onGrpc(path, succeed)
	}
	died := errors.New("the program has died")
	func() {
		defer func() { _ = recover() }()
		_ = dtmgrpc.TccGlobalTransaction2(s.grpcDtm, s.gid, func(tcc *dtmgrpc.TccGrpc) {
			tcc.RetryInterval, tcc.TimeoutToFail = 1, 2
		}, func(tcc *dtmgrpc.TccGrpc) error {
			try, confirm, cancel := s.grpcFreezer("a")
			if err := tcc.CallBranch(payload(), try, confirm, cancel, &emptypb.Empty{}); err != nil {
				return err
			}
			// A dead program sends neither submit nor abort: both would go to another orchestrator.
			tcc.Dtm = s.grpcBranches
			return died
		})
	}()
	return all(s.untilStatus("failed"), s.expectOrder("trya:01:try", "cancela:01:cancel"))
}

func (s *scenario) grpcMessage() (msg *dtmgrpc.MsgGrpc, queryPrepared string) {
	msg = dtmgrpc.NewMsgGrpc(s.grpcDtm, s.gid).Add(s.onGrpc("in", s.guarded(s.adjust("b", amount))), payload())
	msg.RetryInterval = 1
	return msg, s.onGrpc("query", s.backCheck)
}

func (s *scenario) backCheck(c call) error {
	barrier, err := dtmcli.BarrierFromQuery(c.query)
	if err != nil {
		return err
	}
	return barrier.QueryPrepared(s.db)
}

func grpcMsgCommits(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.grpcMessage()
	return all(
		msg.DoAndSubmitDB(query, s.db, s.adjust("a", -amount)),
		s.expectDelivered(),
		s.expectOrder("in:01:action"),
		expectEqual("trans_type of the call", s.received()[0].query.Get("trans_type"), "msg"),
		expectEqual("body of the call", s.received()[0].body, `{"amount":30}`),
	)
}

func grpcMsgFails(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.grpcMessage()
	err := msg.DoAndSubmitDB(query, s.db, s.adjust("a", -2*startBalance))
	return all(expectError("doAndSubmit", err, "FAILURE"), s.expectNotDelivered(), s.expectOrder())
}

func grpcMsgDoubt(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.grpcMessage()
	err := msg.DoAndSubmit(query, func(barrier *dtmcli.BranchBarrier) error {
		return all(barrier.CallWithDB(s.db, s.adjust("a", -amount)), errBroken)
	})
	return all(
		expectError("doAndSubmit", err, errBroken.Error()),
		s.expectDelivered(),
		s.expectOrder("query:00:msg", "in:01:action"),
	)
}

func grpcMsgDiesAfterCommit(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.grpcMessage()
	msg.TimeoutToFail = 1
	return all(
		msg.Prepare(query),
		s.commitLocally(),
		s.expectDelivered(),
		s.expectOrder("query:00:msg", "in:01:action"),
	)
}

func grpcMsgDiesBeforeCommit(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	msg, query := s.grpcMessage()
	msg.TimeoutToFail = 1
	return all(msg.Prepare(query), s.expectNotDelivered("00:msg:rollback"), s.expectOrder("query:00:msg"))
}

func grpcMsgBackCheckOngoing(s *scenario) error {
	msg, query := s.grpcMessage()
	s.onGrpc("in", succeed)
	s.onGrpc("query", atMost(1, dtmcli.ErrOngoing, succeed))
	msg.TimeoutToFail = 1
	started := time.Now()
	return all(
		msg.Prepare(query),
		s.untilStatus("succeed"),
		s.expectOrder("query:00:msg", "query:00:msg", "in:01:action"),
		expectEqual("it waited", time.Since(started) > time.Second, true),
	)
}
