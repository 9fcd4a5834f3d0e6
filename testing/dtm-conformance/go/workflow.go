package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/dtm-labs/client/dtmcli"
	"github.com/dtm-labs/client/workflow"
)

var workflowChecks = []check{
	{name: "workflow: two local steps, and the result is there for whoever asks again", run: workflowSucceeds},
	{name: "workflow: a service fails, what was done is rolled back", run: workflowFails},
	{name: "workflow: services are called once, and what they answer is kept", run: workflowCallsServices},
	{name: "workflow: the confirms of a tcc come after all tries", run: workflowConfirms},
	{name: "workflow: the program dies, and the callback goes on where it was", run: workflowGoesOn},
	{name: "workflow: an ongoing step is asked again by the callback", run: workflowWaits},
	{name: "workflow: a branch of xa is committed", run: workflowCommitsXa},
	{name: "workflow: a branch of xa is rolled back", run: workflowRollsBackXa},
	{name: "workflow: it is not aborted, and a stopped one takes no end", run: workflowIsStopped},
}

// grpcWorkflowChecks are the same workflows, with the orchestrator asked and their callbacks served over gRPC.
func grpcWorkflowChecks() []check {
	checks := []check{}
	for _, c := range workflowChecks {
		checks = append(checks, check{name: "grpc " + c.name, run: c.run})
	}
	checks[0].defect = "the result is left out over gRPC"
	return checks
}

// All scenarios share one name, since the client takes no new names while workflows run.
const workflowName = "conformance"

// order is what a scenario's workflow gets as its data.
type order struct {
	Key string `json:"key"`
}

type workflowFunc func(*workflow.Workflow) ([]byte, error)

// startWorkflows registers the one function that runs each scenario's own, and serves the callback.
func startWorkflows(w *world) error {
	workflows := &scenario{world: w, handlers: map[string]handler{}}
	w.service.add("workflow", workflows)
	callback := workflows.service.url + "/workflow/resume"
	workflows.handlers["resume"] = func(c call) error {
		return workflow.ExecuteByQS(c.query, []byte(c.body))
	}
	workflow.InitHTTP(w.dtm, callback)
	return workflow.Register2(workflowName, func(wf *workflow.Workflow, data []byte) ([]byte, error) {
		var given order
		if err := json.Unmarshal(data, &given); err != nil {
			return nil, err
		}
		s := w.service.find(given.Key)
		if s == nil || s.program == nil {
			return nil, fmt.Errorf("no scenario %s", given.Key)
		}
		return s.program(wf)
	}, func(wf *workflow.Workflow) { wf.RetryInterval = 1 })
}

func (s *scenario) execute(program workflowFunc) ([]byte, error) {
	s.program = program
	data, err := json.Marshal(order{Key: s.key})
	if err != nil {
		return nil, err
	}
	return workflow.Execute2(workflowName, s.gid, data)
}

// step is a local step that changes an account behind the client's barrier.
func (s *scenario) step(wf *workflow.Workflow, name string, change int) error {
	_, err := wf.NewBranch().OnRollback(func(bb *dtmcli.BranchBarrier) error {
		return bb.CallWithDB(s.db, s.adjust(name, -change))
	}).Do(func(bb *dtmcli.BranchBarrier) ([]byte, error) {
		return []byte(name), bb.CallWithDB(s.db, s.adjust(name, change))
	})
	return err
}

// request is a step in a service.
func (s *scenario) request(wf *workflow.Workflow, url string) (string, error) {
	answer, err := wf.NewRequest().SetBody(transfer{amount}).Post(url)
	if err != nil {
		return "", err
	}
	return answer.String(), nil
}

func workflowSucceeds(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	runs := 0
	program := func(wf *workflow.Workflow) ([]byte, error) {
		runs++
		return []byte("moved"), all(s.step(wf, "a", -amount), s.step(wf, "b", amount))
	}
	result, err := s.execute(program)
	again, errAgain := s.execute(program)
	return all(
		err, errAgain,
		expectEqual("result", string(result), "moved"),
		expectEqual("result again", string(again), "moved"),
		expectEqual("runs", fmt.Sprint(runs), "1"),
		s.untilStatus("succeed"),
		s.expectBalances("a=970+0", "b=1030+0"),
		s.expectBranches("01:action:succeed", "02:action:succeed"),
	)
}

func workflowFails(s *scenario) error {
	if err := s.open("a"); err != nil {
		return err
	}
	refusing := s.on("b", fail)
	program := func(wf *workflow.Workflow) ([]byte, error) {
		if err := s.step(wf, "a", -amount); err != nil {
			return nil, err
		}
		wf.NewBranch().OnRollback(func(*dtmcli.BranchBarrier) error { return errors.New("the failed branch is not rolled back") })
		_, err := s.request(wf, refusing)
		return nil, err
	}
	_, err := s.execute(program)
	_, again := s.execute(program)
	return all(
		expectError("workflow", err, "FAILURE"),
		expectError("workflow again", again, "FAILURE"),
		s.untilStatus("failed"),
		s.expectReason("FAILURE"),
		s.expectBalances("a=1000+0"),
		s.expectBranches("01:action:succeed", "02:action:failed", "01:rollback:succeed"),
		s.expectOrder("b:02:action"),
	)
}

func workflowCallsServices(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	out, in := s.on("a", s.guarded(s.adjust("a", -amount))), s.on("b", s.guarded(s.adjust("b", amount)))
	var seen []string
	tries := 0
	program := func(wf *workflow.Workflow) ([]byte, error) {
		tries++
		for _, url := range []string{out, in} {
			answer, err := s.request(wf.NewBranch(), url)
			if err != nil {
				return nil, err
			}
			seen = append(seen, answer)
			if tries == 1 {
				return nil, errBroken
			}
		}
		return nil, nil
	}
	_, first := s.execute(program)
	_, second := s.execute(program)
	return all(
		expectError("the first run", first, errBroken.Error()),
		second,
		s.untilStatus("succeed"),
		s.expectOrder("a:01:action", "b:02:action"),
		s.expectBalances("a=970+0", "b=1030+0"),
		expectEqual("what the first service answered", seen[1], seen[0]),
	)
}

func workflowConfirms(s *scenario) error {
	try, confirm := s.on("try", succeed), s.on("confirm", succeed)
	program := func(wf *workflow.Workflow) ([]byte, error) {
		for range []int{1, 2} {
			wf.NewBranch().OnCommit(func(*dtmcli.BranchBarrier) error {
				_, err := s.request(wf, confirm)
				return err
			}).OnRollback(func(*dtmcli.BranchBarrier) error { return errBroken })
			if _, err := s.request(wf, try); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	_, err := s.execute(program)
	return all(
		err,
		s.untilStatus("succeed"),
		s.expectOrder("try:01:action", "try:02:action", "confirm:02:commit", "confirm:01:commit"),
		s.expectBranches("01:action:succeed", "02:action:succeed", "02:commit:succeed", "01:commit:succeed"),
	)
}

func workflowGoesOn(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	firstStep, runs := 0, 0
	program := func(wf *workflow.Workflow) ([]byte, error) {
		runs++
		_, err := wf.NewBranch().Do(func(bb *dtmcli.BranchBarrier) ([]byte, error) {
			firstStep++
			return nil, bb.CallWithDB(s.db, s.adjust("a", -amount))
		})
		if err != nil {
			return nil, err
		}
		if runs == 1 {
			return nil, errBroken
		}
		return []byte("late"), s.step(wf, "b", amount)
	}
	_, err := s.execute(program)
	return all(
		expectError("the first run", err, errBroken.Error()),
		s.untilStatus("succeed"),
		expectEqual("runs of the first step", fmt.Sprint(firstStep), "1"),
		s.expectBalances("a=970+0", "b=1030+0"),
		s.expectBranches("01:action:succeed", "02:action:succeed"),
	)
}

func workflowWaits(s *scenario) error {
	slow := s.on("slow", atMost(2, dtmcli.ErrOngoing, succeed))
	program := func(wf *workflow.Workflow) ([]byte, error) {
		_, err := s.request(wf.NewBranch(), slow)
		return nil, err
	}
	_, err := s.execute(program)
	return all(
		expectError("the first run", err, "ONGOING"),
		s.untilStatus("succeed"),
		s.expectOrder("slow:01:action", "slow:01:action", "slow:01:action"),
		s.expectBranches("01:action:succeed"),
	)
}

// prepareInWorkflow changes an account in a prepared transaction of the database.
func (s *scenario) prepareInWorkflow(wf *workflow.Workflow, name string, change int) error {
	_, err := wf.NewBranch().DoXa(s.bankConf, func(db *sql.DB) ([]byte, error) {
		return nil, changeOne(db.Exec(
			"update conformance_go.account set balance = balance + ? where name = ? and balance + ? >= 0",
			change, s.key+name, change))
	})
	return err
}

func workflowCommitsXa(s *scenario) error {
	if err := s.open("a", "b"); err != nil {
		return err
	}
	_, err := s.execute(func(wf *workflow.Workflow) ([]byte, error) {
		return nil, all(s.prepareInWorkflow(wf, "a", -amount), s.prepareInWorkflow(wf, "b", amount))
	})
	return all(
		err,
		s.untilStatus("succeed"),
		s.expectBalances("a=970+0", "b=1030+0"),
		s.expectNonePrepared(),
		s.expectBranches(
			"01:business:succeed", "01:action:succeed", "02:business:succeed", "02:action:succeed",
			"02:commit:succeed", "01:commit:succeed"),
	)
}

func workflowRollsBackXa(s *scenario) error {
	if err := s.open("a"); err != nil {
		return err
	}
	_, err := s.execute(func(wf *workflow.Workflow) ([]byte, error) {
		if err := s.prepareInWorkflow(wf, "a", -amount); err != nil {
			return nil, err
		}
		return nil, dtmcli.ErrFailure
	})
	return all(
		expectError("workflow", err, "FAILURE"),
		s.untilStatus("failed"),
		s.expectBalances("a=1000+0"),
		s.expectNonePrepared(),
	)
}

func workflowIsStopped(s *scenario) error {
	_, err := s.execute(func(*workflow.Workflow) ([]byte, error) { return nil, errBroken })
	return all(
		expectError("workflow", err, errBroken.Error()),
		s.expectCommand("abort", `{"gid":"`+s.gid+`","trans_type":"workflow"}`, http.StatusConflict),
		s.expectCommand("forceStop", `{"gid":"`+s.gid+`"}`, http.StatusOK),
		s.untilStatus("failed"),
		s.expectCommand("submit", `{"gid":"`+s.gid+`","trans_type":"workflow","req_extra":{"status":"succeed"}}`,
			http.StatusInternalServerError),
	)
}

func (s *scenario) expectCommand(name, body string, wanted int) error {
	answer, err := http.Post(s.dtm+"/"+name, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	return all(answer.Body.Close(), expectEqual(name, answer.StatusCode, wanted))
}
