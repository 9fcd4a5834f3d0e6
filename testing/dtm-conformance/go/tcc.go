package main

import (
	"github.com/dtm-labs/client/dtmcli"
	"github.com/dtm-labs/client/dtmcli/dtmimp"
	"github.com/go-resty/resty/v2"
)

var tccChecks = []check{
	{name: "tcc: two branches are confirmed, newest first", run: tccConfirms},
	{name: "tcc: nested, three branches are confirmed, newest first", run: tccNested},
	{name: "tcc: a try fails, all are cancelled, newest first", run: tccFails},
	{name: "tcc: a nested try fails", run: tccNestedFails},
	{name: "tcc: the program's own error cancels", run: tccOwnError},
	{name: "tcc: the program's panic cancels", run: tccPanics},
	{name: "tcc: a confirm that fails is asked again", run: tccConfirmsAgain},
	{name: "tcc: an ongoing cancel is asked again", run: tccCancelsAgain},
	{name: "tcc: the program dies before submit, the timeout cancels", run: tccTimesOut},
	{name: "tcc: wait_result shows the confirms' result", run: tccWaits},
	{name: "tcc: prepared again after its end", run: tccAgain},
}

// freezer has the three branches of a change to one account.
func (s *scenario) freezer(name string, change int) (try, confirm, cancel string) {
	return s.on("try"+name, s.guarded(s.freeze(name, change))),
		s.on("confirm"+name, s.guarded(s.settle(name, change))),
		s.on("cancel"+name, s.guarded(s.freeze(name, -change)))
}

func (s *scenario) callBranch(tcc *dtmcli.Tcc, name string, change int) (*resty.Response, error) {
	try, confirm, cancel := s.freezer(name, change)
	return tcc.CallBranch(transfer{change}, try, confirm, cancel)
}

func retrySoon(tcc *dtmcli.Tcc) { tcc.RetryInterval = 1 }

// transferTcc freezes on a, then on b.
func (s *scenario) transferTcc(tcc *dtmcli.Tcc) (*resty.Response, error) {
	if answer, err := s.callBranch(tcc, "a", -amount); err != nil {
		return answer, err
	}
	return s.callBranch(tcc, "b", amount)
}

func (s *scenario) expectConfirmed() error {
	return all(
		s.untilStatus("succeed"),
		s.expectBalances("a=970+0", "b=1030+0"),
		s.expectBarrier("01:confirm:confirm", "01:try:try", "02:confirm:confirm", "02:try:try"),
		s.expectBranches("01:cancel:prepared", "01:confirm:succeed", "02:cancel:prepared", "02:confirm:succeed"),
	)
}

func tccConfirms(s *scenario) error {
	return all(
		s.open("a", "b"),
		dtmcli.TccGlobalTransaction2(s.dtm, s.gid, retrySoon, s.transferTcc),
		s.expectConfirmed(),
		s.expectOrder("trya:01:try", "tryb:02:try", "confirmb:02:confirm", "confirma:01:confirm"),
		expectEqual("body of a confirm", s.received()[2].body, `{"amount":30}`),
	)
}

// nest makes the try of one account call a branch of its own for another account.
func (s *scenario) nest(inner string, innerTry handler) {
	try, confirm, cancel := s.freezer(inner, amount)
	if innerTry != nil {
		s.on("try"+inner, innerTry)
	}
	outer := s.handlers["tryb"]
	s.on("tryb", func(c call) error {
		if err := outer(c); err != nil {
			return err
		}
		tcc, err := dtmcli.TccFromQuery(c.query)
		if err == nil {
			_, err = tcc.CallBranch(transfer{amount}, try, confirm, cancel)
		}
		return err
	})
}

// nestedTcc freezes on a, then on b, whose try freezes on c.
func (s *scenario) nestedTcc(innerTry handler) dtmcli.TccGlobalFunc {
	return func(tcc *dtmcli.Tcc) (*resty.Response, error) {
		if answer, err := s.callBranch(tcc, "a", -2*amount); err != nil {
			return answer, err
		}
		try, confirm, cancel := s.freezer("b", amount)
		s.nest("c", innerTry)
		return tcc.CallBranch(transfer{amount}, try, confirm, cancel)
	}
}

func tccNested(s *scenario) error {
	return all(
		s.open("a", "b", "c"),
		dtmcli.TccGlobalTransaction2(s.dtm, s.gid, retrySoon, s.nestedTcc(nil)),
		s.untilStatus("succeed"),
		s.expectOrder("trya:01:try", "tryb:02:try", "tryc:0201:try",
			"confirmc:0201:confirm", "confirmb:02:confirm", "confirma:01:confirm"),
		s.expectBalances("a=940+0", "b=1030+0", "c=1030+0"),
		s.expectBarrier("01:confirm:confirm", "01:try:try", "02:confirm:confirm", "02:try:try",
			"0201:confirm:confirm", "0201:try:try"),
	)
}

func tccFails(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	err := dtmcli.TccGlobalTransaction2(s.dtm, s.gid, retrySoon, func(tcc *dtmcli.Tcc) (*resty.Response, error) {
		if answer, err := s.callBranch(tcc, "a", -amount); err != nil {
			return answer, err
		}
		return s.callBranch(tcc, "b", -2*startBalance)
	})
	return all(
		expectError("transaction", err, "FAILURE"),
		s.untilStatus("failed"),
		s.expectOrder("trya:01:try", "tryb:02:try", "cancelb:02:cancel", "cancela:01:cancel"),
		s.expectBalances("a=1000+0", "b=1000+0"),
		s.expectBarrier("01:cancel:cancel", "01:try:try", "02:cancel:cancel", "02:try:cancel"),
		s.expectReason("the balance does not allow it"),
	)
}

func tccNestedFails(s *scenario) error {
	if err := s.open("a", "b", "c"); err != nil {
		return err
	}
	err := dtmcli.TccGlobalTransaction2(s.dtm, s.gid, retrySoon, s.nestedTcc(fail))
	return all(
		expectError("transaction", err, "FAILURE"),
		s.untilStatus("failed"),
		s.expectOrder("trya:01:try", "tryb:02:try", "tryc:0201:try",
			"cancelc:0201:cancel", "cancelb:02:cancel", "cancela:01:cancel"),
		s.expectBalances("a=1000+0", "b=1000+0", "c=1000+0"),
		s.expectBarrier("01:cancel:cancel", "01:try:try", "02:cancel:cancel", "02:try:try",
			"0201:cancel:cancel", "0201:try:cancel"),
	)
}

func tccOwnError(s *scenario) error {
	if err := s.open("a"); err != nil {
		return err
	}
	err := dtmcli.TccGlobalTransaction2(s.dtm, s.gid, retrySoon, func(tcc *dtmcli.Tcc) (*resty.Response, error) {
		answer, err := s.callBranch(tcc, "a", -amount)
		return answer, all(err, errBroken)
	})
	return all(
		expectError("transaction", err, errBroken.Error()),
		s.untilStatus("failed"),
		s.expectOrder("trya:01:try", "cancela:01:cancel"),
		s.expectBalances("a=1000+0"),
		s.expectReason(errBroken.Error()),
	)
}

func tccPanics(s *scenario) error {
	if err := s.open("a"); err != nil {
		return err
	}
	err := dtmimp.CatchP(func() {
		dtmimp.E2P(dtmcli.TccGlobalTransaction2(s.dtm, s.gid, retrySoon, func(tcc *dtmcli.Tcc) (*resty.Response, error) {
			if answer, err := s.callBranch(tcc, "a", -amount); err != nil {
				return answer, err
			}
			panic("thrown")
		}))
	})
	return all(
		expectError("transaction", err, "thrown"),
		s.untilStatus("failed"),
		s.expectOrder("trya:01:try", "cancela:01:cancel"),
		s.expectBalances("a=1000+0"),
	)
}

func tccConfirmsAgain(s *scenario) error {
	return all(
		s.open("a", "b"),
		dtmcli.TccGlobalTransaction2(s.dtm, s.gid, retrySoon, func(tcc *dtmcli.Tcc) (*resty.Response, error) {
			answer, err := s.transferTcc(tcc)
			s.on("confirmb", atMost(1, dtmcli.ErrFailure, s.guarded(s.settle("b", amount))))
			return answer, err
		}),
		s.expectConfirmed(),
		s.expectOrder("trya:01:try", "tryb:02:try", "confirmb:02:confirm", "confirmb:02:confirm", "confirma:01:confirm"),
	)
}

func tccCancelsAgain(s *scenario) error {
	if err := s.open("a"); err != nil {
		return err
	}
	err := dtmcli.TccGlobalTransaction2(s.dtm, s.gid, retrySoon, func(tcc *dtmcli.Tcc) (*resty.Response, error) {
		answer, err := s.callBranch(tcc, "a", -amount)
		s.on("cancela", atMost(1, dtmcli.ErrOngoing, s.guarded(s.freeze("a", amount))))
		return answer, all(err, errBroken)
	})
	return all(
		expectError("transaction", err, errBroken.Error()),
		s.untilStatus("failed"),
		s.expectOrder("trya:01:try", "cancela:01:cancel", "cancela:01:cancel"),
		s.expectBalances("a=1000+0"),
	)
}

// orphan is a tcc whose program has prepared it and then does nothing more by itself.
func (s *scenario) orphan(timeoutToFail int64) (*dtmcli.Tcc, error) {
	tcc := &dtmcli.Tcc{TransBase: *dtmimp.NewTransBase(s.gid, "tcc", s.dtm, "")}
	tcc.TimeoutToFail = timeoutToFail
	tcc.RetryInterval = 1
	return tcc, dtmimp.TransCallDtm(&tcc.TransBase, "prepare")
}

func tccTimesOut(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	tcc, err := s.orphan(2)
	if err == nil {
		_, err = s.transferTcc(tcc)
	}
	return all(
		err,
		s.expectBalances("a=1000+-30", "b=1000+30"),
		s.untilStatus("failed"),
		s.expectBalances("a=1000+0", "b=1000+0"),
		s.expectOrder("trya:01:try", "tryb:02:try", "cancelb:02:cancel", "cancela:01:cancel"),
		s.expectReason("Timeout after"),
		expectError("a late submit", dtmimp.TransCallDtm(&tcc.TransBase, "submit"), "FAILURE"),
		expectError("a late branch", second(s.callBranch(tcc, "a", -amount)), "FAILURE"),
	)
}

func second[T any](_ T, err error) error { return err }

func tccWaits(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	err := dtmcli.TccGlobalTransaction2(s.dtm, s.gid, func(tcc *dtmcli.Tcc) {
		tcc.WaitResult = true
		tcc.RetryInterval = 1
	}, func(tcc *dtmcli.Tcc) (*resty.Response, error) {
		answer, err := s.transferTcc(tcc)
		s.on("confirmb", atMost(1, dtmcli.ErrOngoing, s.guarded(s.settle("b", amount))))
		return answer, err
	})
	return all(expectEndOr("transaction", err, "ONGOING"), s.expectConfirmed())
}

func tccAgain(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	waits := func(tcc *dtmcli.Tcc) { tcc.WaitResult = true }
	if err := dtmcli.TccGlobalTransaction2(s.dtm, s.gid, waits, s.transferTcc); err != nil {
		return err
	}
	err := dtmcli.TccGlobalTransaction2(s.dtm, s.gid, waits, s.transferTcc)
	return all(expectError("second prepare", err, "current status 'succeed', cannot prepare. FAILURE"), s.expectConfirmed())
}
