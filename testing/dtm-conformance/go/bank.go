package main

import (
	"database/sql"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/dtm-labs/client/dtmcli"
	"github.com/go-sql-driver/mysql"
)

const startBalance = 1000

// The client writes its barrier rows into this table, by this name.
const createBarrierTable = `create table if not exists dtm_barrier.barrier (
  id bigint primary key auto_increment,
  trans_type varchar(45) default '', gid varchar(128) default '', branch_id varchar(128) default '',
  op varchar(45) default '', barrier_id varchar(45) default '', reason varchar(45) default '',
  create_time datetime default now(), update_time datetime default now(),
  key (create_time), key (update_time), unique key (gid, branch_id, op, barrier_id)
) engine = InnoDB default charset = utf8mb4`

const createAccountTable = `create table if not exists conformance_go.account (
  name varchar(128) primary key, balance int not null, frozen int not null default 0
) engine = InnoDB default charset = utf8mb4`

func openBank(target string) (*sql.DB, dtmcli.DBConf, error) {
	conf := dtmcli.DBConf{Driver: "mysql"}
	parsed, err := url.Parse(target)
	if err != nil {
		return nil, conf, err
	}
	conf.Host, conf.User = parsed.Hostname(), parsed.User.Username()
	conf.Password, _ = parsed.User.Password()
	if conf.Port, err = strconv.ParseInt(parsed.Port(), 10, 64); err != nil {
		return nil, conf, err
	}
	settings := mysql.NewConfig()
	settings.Net, settings.Addr = "tcp", parsed.Host
	settings.User = parsed.User.Username()
	settings.Passwd, _ = parsed.User.Password()
	settings.InterpolateParams = true
	db, err := sql.Open("mysql", settings.FormatDSN())
	if err != nil {
		return nil, conf, err
	}
	for _, statement := range []string{
		"create database if not exists dtm_barrier",
		"create database if not exists conformance_go",
		createBarrierTable,
		createAccountTable,
	} {
		if _, err := db.Exec(statement); err != nil {
			return nil, conf, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return db, conf, nil
}

// open makes an account of this scenario.
func (s *scenario) open(names ...string) error {
	for _, name := range names {
		_, err := s.db.Exec("insert into conformance_go.account (name, balance) values (?, ?)", s.key+name, startBalance)
		if err != nil {
			return err
		}
	}
	return nil
}

// adjust is a statement of an account's balance; a balance below zero is a failure.
func (s *scenario) adjust(name string, amount int) dtmcli.BarrierBusiFunc {
	return func(tx *sql.Tx) error {
		return changeOne(tx.Exec("update conformance_go.account set balance = balance + ? where name = ? and balance + ? >= 0",
			amount, s.key+name, amount))
	}
}

// freeze moves an amount of an account to or from its frozen part.
func (s *scenario) freeze(name string, amount int) dtmcli.BarrierBusiFunc {
	return func(tx *sql.Tx) error {
		return changeOne(tx.Exec("update conformance_go.account set frozen = frozen + ? where name = ? and balance + frozen + ? >= 0",
			amount, s.key+name, amount))
	}
}

// settle books a frozen amount.
func (s *scenario) settle(name string, amount int) dtmcli.BarrierBusiFunc {
	return func(tx *sql.Tx) error {
		return changeOne(tx.Exec("update conformance_go.account set balance = balance + ?, frozen = frozen - ? where name = ?",
			amount, amount, s.key+name))
	}
}

func changeOne(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err == nil && changed == 0 {
		err = fmt.Errorf("the balance does not allow it %w", dtmcli.ErrFailure)
	}
	return err
}

// guarded runs a statement behind the client's barrier.
func (s *scenario) guarded(do dtmcli.BarrierBusiFunc) handler {
	return func(c call) error {
		barrier, err := dtmcli.BarrierFromQuery(c.query)
		if err != nil {
			return err
		}
		return barrier.CallWithDB(s.db, do)
	}
}

// expectBalances takes `name=balance+frozen`.
func (s *scenario) expectBalances(wanted ...string) error {
	rows, err := s.db.Query("select substring(name, ?), balance, frozen from conformance_go.account where name like ? order by name",
		len(s.key)+1, s.key+"%")
	if err != nil {
		return err
	}
	defer rows.Close()
	found := []string{}
	for rows.Next() {
		var name string
		var balance, frozen int
		if err := rows.Scan(&name, &balance, &frozen); err != nil {
			return err
		}
		found = append(found, fmt.Sprintf("%s=%d+%d", name, balance, frozen))
	}
	return all(rows.Err(), expectEqual("balances", strings.Join(found, " "), strings.Join(wanted, " ")))
}

// expectBarrier compares the barrier rows, as `branch_id:op:reason` sorted by branch and op.
func (s *scenario) expectBarrier(wanted ...string) error {
	rows, err := s.db.Query(
		"select branch_id, op, reason from dtm_barrier.barrier where gid = ? order by branch_id, op", s.gid)
	if err != nil {
		return err
	}
	defer rows.Close()
	found := []string{}
	for rows.Next() {
		var branch, op, reason string
		if err := rows.Scan(&branch, &op, &reason); err != nil {
			return err
		}
		found = append(found, branch+":"+op+":"+reason)
	}
	return all(rows.Err(), expectEqual("barrier rows", strings.Join(found, " "), strings.Join(wanted, " ")))
}
