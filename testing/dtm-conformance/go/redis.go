package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/dtm-labs/client/dtmcli"
	"github.com/go-redis/redis/v8"
)

const barrierSeconds = 3600

var redisChecks = []check{
	{name: "redis barrier: a saga succeeds, one answer is lost", run: redisSucceeds},
	{name: "redis barrier: a saga rolls back, with a null compensation", run: redisRollsBack},
	{name: "redis barrier: a late action after its compensation is filtered", run: redisLate},
	{name: "redis barrier: tcc confirms", run: redisTcc},
	{name: "redis barrier: msg, the program dies after its change, the back-check delivers", run: redisMsgDelivers},
	{name: "redis barrier: msg, the program dies before its change, the back-check ends it", run: redisMsgEnds},
}

func (s *scenario) stockKey(name string) string { return s.key + "-stock-" + name }

func (s *scenario) stock(names ...string) error {
	for _, name := range names {
		if err := s.redis.Set(context.Background(), s.stockKey(name), startBalance, 0).Err(); err != nil {
			return err
		}
	}
	return nil
}

// counted changes a stock in Redis behind the client's barrier.
func (s *scenario) counted(name string, change int) handler {
	return func(c call) error {
		barrier, err := dtmcli.BarrierFromQuery(c.query)
		if err != nil {
			return err
		}
		return barrier.RedisCheckAdjustAmount(s.redis, s.stockKey(name), change, barrierSeconds)
	}
}

func (s *scenario) expectStock(name string, wanted int) error {
	value, err := s.redis.Get(context.Background(), s.stockKey(name)).Int()
	return all(err, expectEqual("stock "+name, value, wanted))
}

// expectKey compares a barrier's record in Redis: "op", "rollback", or "" for none.
func (s *scenario) expectKey(branchAndOp, wanted string) error {
	value, err := s.redis.Get(context.Background(), s.gid+"-"+branchAndOp+"-01").Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return all(err, expectEqual("barrier key "+branchAndOp, value, wanted))
}

func (s *scenario) stockSaga() *dtmcli.Saga {
	saga := dtmcli.NewSaga(s.dtm, s.gid).
		Add(s.on("out", s.counted("a", -amount)), s.on("outBack", s.counted("a", amount)), nil).
		Add(s.on("in", s.counted("b", amount)), s.on("inBack", s.counted("b", -amount)), nil)
	saga.RetryInterval = 1
	return saga
}

func redisSucceeds(s *scenario) error {
	if err := s.stock("a", "b"); err != nil {
		return err
	}
	saga := s.stockSaga()
	in := s.counted("b", amount)
	s.on("in", func(c call) error {
		err := in(c)
		if s.count("in") == 1 {
			return errors.Join(err, errBroken)
		}
		return err
	})
	return all(
		saga.Submit(),
		s.untilStatus("succeed"),
		s.expectOrder("out:01:action", "in:02:action", "in:02:action"),
		s.expectStock("a", startBalance-amount),
		s.expectStock("b", startBalance+amount),
		s.expectKey("01-action", "op"),
		s.expectKey("02-action", "op"),
		s.expectKey("01-compensate", ""),
	)
}

func (s *scenario) rollBackStock() error {
	saga := s.stockSaga()
	s.on("in", fail)
	return all(
		saga.Submit(),
		s.untilStatus("failed"),
		s.expectOrder("out:01:action", "in:02:action", "inBack:02:compensate", "outBack:01:compensate"),
		s.expectStock("a", startBalance),
		s.expectStock("b", startBalance),
	)
}

func redisRollsBack(s *scenario) error {
	return all(
		s.stock("a", "b"),
		s.rollBackStock(),
		s.expectKey("01-action", "op"),
		s.expectKey("01-compensate", "op"),
		s.expectKey("02-action", "rollback"),
		s.expectKey("02-compensate", "op"),
	)
}

func redisLate(s *scenario) error {
	if err := all(s.stock("a", "b"), s.rollBackStock()); err != nil {
		return err
	}
	late := s.received()[1]
	return all(
		expectEqual("the late call", late.path, "in"),
		s.counted("b", amount)(late),
		s.expectStock("b", startBalance),
	)
}

func redisTcc(s *scenario) error {
	if err := s.stock("a"); err != nil {
		return err
	}
	tcc, err := s.orphan(0)
	if err != nil {
		return err
	}
	_, err = tcc.CallBranch(nil, s.on("try", s.counted("a", -amount)), s.on("confirm", succeed), s.on("cancel", s.counted("a", amount)))
	return all(
		err,
		s.submitOrphan(tcc),
		s.untilStatus("succeed"),
		s.expectOrder("try:01:try", "confirm:01:confirm"),
		s.expectStock("a", startBalance-amount),
	)
}

func (s *scenario) stockMessage() (*dtmcli.Msg, string) {
	msg := dtmcli.NewMsg(s.dtm, s.gid).Add(s.on("in", s.counted("b", amount)), nil)
	msg.RetryInterval = 1
	msg.TimeoutToFail = 3
	return msg, s.on("query", func(c call) error {
		barrier, err := dtmcli.BarrierFromQuery(c.query)
		if err != nil {
			return err
		}
		return barrier.RedisQueryPrepared(s.redis, barrierSeconds)
	})
}

func (s *scenario) changeLocally() error {
	barrier, err := dtmcli.BarrierFrom("msg", s.gid, "00", "msg")
	if err != nil {
		return err
	}
	return barrier.RedisCheckAdjustAmount(s.redis, s.stockKey("a"), -amount, barrierSeconds)
}

func redisMsgDelivers(s *scenario) error {
	if err := s.stock("a", "b"); err != nil {
		return err
	}
	msg, query := s.stockMessage()
	return all(
		msg.Prepare(query),
		s.changeLocally(),
		s.untilStatus("succeed"),
		s.expectOrder("query:00:msg", "in:01:action"),
		s.expectStock("a", startBalance-amount),
		s.expectStock("b", startBalance+amount),
	)
}

func redisMsgEnds(s *scenario) error {
	if err := s.stock("a", "b"); err != nil {
		return err
	}
	msg, query := s.stockMessage()
	if err := all(msg.Prepare(query), s.untilStatus("failed"), s.expectKey("00-msg", "rollback")); err != nil {
		return err
	}
	if err := s.changeLocally(); !errors.Is(err, dtmcli.ErrDuplicated) {
		return fmt.Errorf("a late local change: got %v, wanted %w", err, dtmcli.ErrDuplicated)
	}
	return all(s.expectOrder("query:00:msg"), s.expectStock("a", startBalance), s.expectStock("b", startBalance))
}
