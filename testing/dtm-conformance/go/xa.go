package main

import (
	"database/sql"
	"fmt"
	"strings"

	"github.com/dtm-labs/client/dtmcli"
	"github.com/dtm-labs/client/dtmcli/dtmimp"
	"github.com/go-resty/resty/v2"
)

var xaChecks = []check{
	{name: "xa: two branches are committed, in the order of their registration", run: xaCommits},
	{name: "xa: a branch fails, all are rolled back", run: xaFails},
	{name: "xa: the program's own error rolls back", run: xaOwnError},
	{name: "xa: the program dies before submit, the timeout rolls back", run: xaTimesOut},
	{name: "xa: a commit that fails is asked again", run: xaCommitsAgain},
	{name: "xa: a rollback that came before is not undone by a late action", run: xaLateAction},
	{name: "xa: a branch is registered again, and a late one is refused", defect: "9.13", run: xaRegistersAgain},
	{name: "xa: wait_result shows the commits' result", run: xaWaits},
}

// prepared makes a branch that changes an account in a transaction of the database, and later ends that.
func (s *scenario) prepared(name string, change int) handler {
	return func(c call) error {
		return dtmcli.XaLocalTransaction(c.query, s.bankConf, func(db *sql.DB, _ *dtmcli.Xa) error {
			return changeOne(db.Exec(
				"update conformance_go.account set balance = balance + ? where name = ? and balance + ? >= 0",
				change, s.key+name, change))
		})
	}
}

func (s *scenario) transferXa(xa *dtmcli.Xa) (*resty.Response, error) {
	if answer, err := xa.CallBranch(transfer{amount}, s.on("a", s.prepared("a", -amount))); err != nil {
		return answer, err
	}
	return xa.CallBranch(transfer{amount}, s.on("b", s.prepared("b", amount)))
}

func retryXaSoon(xa *dtmcli.Xa) { xa.RetryInterval = 1 }

// expectNonePrepared fails if the database still holds a prepared transaction of this gid.
func (s *scenario) expectNonePrepared() error {
	rows, err := s.db.Query("xa recover")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var format, globalLength, branchLength int
		var data string
		if err := rows.Scan(&format, &globalLength, &branchLength, &data); err != nil {
			return err
		}
		if strings.HasPrefix(data, s.gid+"-") {
			return fmt.Errorf("%s is still prepared", data)
		}
	}
	return rows.Err()
}

func (s *scenario) expectCommitted() error {
	return all(
		s.untilStatus("succeed"),
		s.expectBalances("a=970+0", "b=1030+0"),
		s.expectNonePrepared(),
		s.expectBranches("01:rollback:prepared", "01:commit:succeed", "02:rollback:prepared", "02:commit:succeed"),
	)
}

func xaCommits(s *scenario) error {
	return all(
		s.open("a", "b"),
		dtmcli.XaGlobalTransaction2(s.dtm, s.gid, retryXaSoon, s.transferXa),
		s.expectCommitted(),
		s.expectOrder("a:01:action", "b:02:action", "a:01:commit", "b:02:commit"),
		expectEqual("body of a commit", s.received()[2].body, ""),
	)
}

func xaFails(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	err := dtmcli.XaGlobalTransaction2(s.dtm, s.gid, retryXaSoon, func(xa *dtmcli.Xa) (*resty.Response, error) {
		if answer, err := xa.CallBranch(transfer{amount}, s.on("a", s.prepared("a", -amount))); err != nil {
			return answer, err
		}
		return xa.CallBranch(transfer{amount}, s.on("b", s.prepared("b", -2*startBalance)))
	})
	// The branch that failed was never registered: its database has rolled it back by itself.
	return all(
		expectError("transaction", err, "FAILURE"),
		s.untilStatus("failed"),
		s.expectBalances("a=1000+0", "b=1000+0"),
		s.expectNonePrepared(),
		s.expectOrder("a:01:action", "b:02:action", "a:01:rollback"),
	)
}

func xaOwnError(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	err := dtmcli.XaGlobalTransaction2(s.dtm, s.gid, retryXaSoon, func(xa *dtmcli.Xa) (*resty.Response, error) {
		answer, err := s.transferXa(xa)
		return answer, all(err, errBroken)
	})
	return all(
		expectError("transaction", err, errBroken.Error()),
		s.untilStatus("failed"),
		s.expectOrder("a:01:action", "b:02:action", "a:01:rollback", "b:02:rollback"),
		s.expectBalances("a=1000+0", "b=1000+0"),
		s.expectNonePrepared(),
	)
}

// orphanXa is an xa whose program has prepared it and then does nothing more by itself.
func (s *scenario) orphanXa(timeoutToFail int64) (*dtmcli.Xa, error) {
	xa := &dtmcli.Xa{TransBase: *dtmimp.NewTransBase(s.gid, "xa", s.dtm, "")}
	xa.TimeoutToFail = timeoutToFail
	xa.RetryInterval = 1
	return xa, dtmimp.TransCallDtm(&xa.TransBase, "prepare")
}

func xaTimesOut(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	xa, err := s.orphanXa(2)
	if err == nil {
		_, err = s.transferXa(xa)
	}
	return all(
		err,
		s.untilStatus("failed"),
		s.expectBalances("a=1000+0", "b=1000+0"),
		s.expectNonePrepared(),
		s.expectOrder("a:01:action", "b:02:action", "a:01:rollback", "b:02:rollback"),
		s.expectReason("Timeout after"),
		expectError("a late submit", dtmimp.TransCallDtm(&xa.TransBase, "submit"), "FAILURE"),
	)
}

func xaCommitsAgain(s *scenario) error {
	return all(
		s.open("a", "b"),
		dtmcli.XaGlobalTransaction2(s.dtm, s.gid, retryXaSoon, func(xa *dtmcli.Xa) (*resty.Response, error) {
			answer, err := s.transferXa(xa)
			// The commit takes effect, and its answer says that it did not.
			end := s.prepared("a", -amount)
			s.on("a", func(c call) error {
				if s.count("a") == 2 {
					return all(end(c), dtmcli.ErrFailure)
				}
				return end(c)
			})
			return answer, err
		}),
		s.expectCommitted(),
		s.expectOrder("a:01:action", "b:02:action", "a:01:commit", "a:01:commit", "b:02:commit"),
	)
}

func xaLateAction(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	var first call
	err := dtmcli.XaGlobalTransaction2(s.dtm, s.gid, retryXaSoon, func(xa *dtmcli.Xa) (*resty.Response, error) {
		answer, err := xa.CallBranch(transfer{amount}, s.on("a", s.prepared("a", -amount)))
		first = s.received()[0]
		return answer, all(err, errBroken)
	})
	problem := all(
		expectError("transaction", err, errBroken.Error()),
		s.untilStatus("failed"),
	)
	if problem != nil {
		return problem
	}
	late := s.prepared("a", -amount)(first)
	return all(
		expectError("a late action", late, "FAILURE"),
		s.expectBalances("a=1000+0", "b=1000+0"),
		s.expectNonePrepared(),
	)
}

func xaRegistersAgain(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	xa, err := s.orphanXa(30)
	if err == nil {
		_, err = xa.CallBranch(transfer{amount}, s.on("a", s.prepared("a", -amount)))
	}
	if err != nil {
		return err
	}
	register := func(branch string) error {
		return dtmimp.TransRegisterBranch(&xa.TransBase, map[string]string{
			"url": s.service.url + "/" + s.key + "/a", "branch_id": branch,
		}, "registerBranch")
	}
	return all(
		register("01"),
		dtmimp.TransCallDtm(&xa.TransBase, "submit"),
		s.untilStatus("succeed"),
		s.expectOrder("a:01:action", "a:01:commit"),
		s.expectBalances("a=970+0", "b=1000+0"),
		s.expectNonePrepared(),
		expectError("a late branch", register("02"), "FAILURE"),
	)
}

func xaWaits(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	err := dtmcli.XaGlobalTransaction2(s.dtm, s.gid, func(xa *dtmcli.Xa) {
		xa.WaitResult = true
		xa.RetryInterval = 1
	}, s.transferXa)
	return all(err, s.expectCommitted())
}
