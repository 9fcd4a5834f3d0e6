package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

type branchRow struct {
	BranchID string `json:"branch_id"`
	Op       string `json:"op"`
	Status   string `json:"status"`
}

type transactionRow struct {
	Gid            string `json:"gid"`
	TransType      string `json:"trans_type"`
	Status         string `json:"status"`
	RollbackReason string `json:"rollback_reason"`
}

type queryAnswer struct {
	Transaction *transactionRow `json:"transaction"`
	Branches    []branchRow     `json:"branches"`
}

func (s *scenario) query() (queryAnswer, error) {
	var answer queryAnswer
	body, status, err := get(s.dtm + "/query?gid=" + url.QueryEscape(s.gid))
	if err != nil {
		return answer, err
	}
	if status != http.StatusOK {
		return answer, fmt.Errorf("query: %d %s", status, body)
	}
	return answer, json.Unmarshal([]byte(body), &answer)
}

// untilStatus waits for the status of the whole transaction.
func (s *scenario) untilStatus(wanted string) error {
	return eventually(func() error {
		answer, err := s.query()
		if err != nil {
			return err
		}
		if answer.Transaction == nil {
			return fmt.Errorf("status: no transaction %s, wanted %s", s.gid, wanted)
		}
		return expectEqual("status", answer.Transaction.Status, wanted)
	})
}

// expectBranches waits for the branch rows, as `branch_id:op:status` in their order: they may be written after the
// transaction's status.
func (s *scenario) expectBranches(wanted ...string) error {
	return eventually(func() error {
		answer, err := s.query()
		if err != nil {
			return err
		}
		rows := []string{}
		for _, b := range answer.Branches {
			rows = append(rows, b.BranchID+":"+b.Op+":"+b.Status)
		}
		return expectEqual("branches", strings.Join(rows, " "), strings.Join(wanted, " "))
	})
}

func (s *scenario) expectReason(text string) error {
	answer, err := s.query()
	if err != nil {
		return err
	}
	if answer.Transaction == nil {
		return fmt.Errorf("no transaction %s", s.gid)
	}
	return expectContains("rollback_reason", answer.Transaction.RollbackReason, text)
}

func expectContains(what, got, text string) error {
	if !strings.Contains(got, text) {
		return fmt.Errorf("%s: %q is not in %q", what, text, got)
	}
	return nil
}

func get(target string) (body string, status int, err error) {
	response, err := http.Get(target)
	if err != nil {
		return "", 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), response.StatusCode, err
}
