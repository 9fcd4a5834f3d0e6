import threading

from dtmcli import saga, utils

from bank import adjust
from checks import Check, expect_contains, expect_equal, expect_raises
from scenario import fail, first, succeed
from service import Broken, Ongoing

AMOUNT = 30
MEETING_SECONDS = 2.5


def transfer(s):
    """Moves the amount from a to b, behind barriers."""
    bank = s.bank
    made = saga.Saga(s.dtm, s.gid)
    for path, account, amount in (("out", "a", -AMOUNT), ("in", "b", AMOUNT)):
        made.add(
            {"amount": AMOUNT},
            s.on(path, bank.guarded(adjust(s.key + account, amount))),
            s.on(f"{path}Back", bank.guarded(adjust(s.key + account, -amount))),
        )
    made.trans_base.retry_interval = 1
    return made


def expect_transferred(s):
    s.until_status("succeed")
    s.expect_balances(a=(970, 0), b=(1030, 0))
    s.expect_barrier("01:action:action", "02:action:action")
    s.expect_branches("01:compensate:prepared", "01:action:succeed", "02:compensate:prepared", "02:action:succeed")


def expect_undone(s):
    """The failed step left no row of its own, so its compensation is a null compensation."""
    s.until_status("failed")
    s.expect_balances(a=(1000, 0), b=(1000, 0))
    s.expect_barrier(
        "01:action:action", "01:compensate:compensate", "02:action:compensate", "02:compensate:compensate"
    )


def expect_rolled_back(s):
    expect_undone(s)
    s.expect_branches("01:compensate:succeed", "01:action:succeed", "02:compensate:succeed", "02:action:failed")
    expect_contains("rollback_reason", s.query()["transaction"]["rollback_reason"], "in return failed: ")


def waits(s):
    s.open_accounts("a", "b")
    made = transfer(s)
    made.trans_base.wait_result = True
    made.submit()
    s.expect_order("out:01:action", "in:02:action")
    expect_transferred(s)
    expect_equal("body of the first call", s.calls[0].body, '{"amount": 30}')


def does_not_wait(s):
    s.open_accounts("a", "b")
    answered = threading.Event()
    made = transfer(s)
    out = s.handlers["out"]

    def held(call):
        answered.wait(MEETING_SECONDS)
        expect_equal("answered before the branch", answered.is_set(), True)
        out(call)

    s.on("out", held)
    made.submit()
    answered.set()
    expect_transferred(s)
    s.expect_order("out:01:action", "in:02:action")


def fails_waited(s):
    s.open_accounts("a", "b")
    made = transfer(s)
    s.on("in", fail)
    made.trans_base.wait_result = True
    expect_raises(utils.DTMFailureError, made.submit)
    expect_rolled_back(s)
    s.expect_order("out:01:action", "in:02:action", "inBack:02:compensate", "outBack:01:compensate")


def fails(s):
    s.open_accounts("a", "b")
    made = transfer(s)
    s.on("in", fail)
    made.submit()
    expect_rolled_back(s)
    s.expect_order("out:01:action", "in:02:action", "inBack:02:compensate", "outBack:01:compensate")


def ongoing(s):
    s.open_accounts("a", "b")
    made = transfer(s)
    s.on("in", first(1, Ongoing(), s.handlers["in"]))
    made.submit()
    expect_transferred(s)
    s.expect_order("out:01:action", "in:02:action", "in:02:action")


def lost_answer(s):
    s.open_accounts("a", "b")
    made = transfer(s)
    out = s.handlers["out"]

    def loses(call):
        out(call)
        if s.count("out") == 1:
            raise Broken("after the commit")

    s.on("out", loses)
    made.submit()
    expect_transferred(s)
    s.expect_order("out:01:action", "out:01:action", "in:02:action")


def again(s):
    s.open_accounts("a", "b")
    made = transfer(s)
    made.trans_base.wait_result = True
    made.submit()
    expect_raises(utils.DTMFailureError, made.submit)
    expect_transferred(s)


def concurrent(made):
    """Saga.set_concurrent reads two attributes that its class never sets."""
    made.orders = {}
    made.concurrent = True
    return made.set_concurrent()


def meeting(of):
    """A branch that answers when all the others are there too."""
    barrier = threading.Barrier(of)

    def arrive(_call):
        try:
            barrier.wait(MEETING_SECONDS)
        except threading.BrokenBarrierError as alone:
            raise utils.DTMFailureError("the others did not come") from alone

    return arrive


def concurrent_together(s):
    together = meeting(3)
    made = concurrent(saga.Saga(s.dtm, s.gid))
    for path in ("one", "two", "three"):
        made.add({}, s.on(path, together), "")
    made.trans_base.wait_result = True
    made.submit()
    s.until_status("succeed")
    expect_equal("calls", len(s.calls), 3)


def concurrent_ordered(s):
    together = meeting(2)
    made = concurrent(saga.Saga(s.dtm, s.gid))
    for path, do in (("one", together), ("two", together), ("three", succeed)):
        made.add({}, s.on(path, do), "")
    made.add_branch_order(2, [0, 1])
    made.trans_base.wait_result = True
    made.submit()
    s.until_status("succeed")
    expect_equal("last call", s.order()[-1], "three:03:action")


def concurrent_fails(s):
    s.open_accounts("a", "b")
    together = meeting(2)
    made = concurrent(transfer(s))
    out = s.handlers["out"]

    done = threading.Event()

    def meets_and_commits(call):
        together(call)
        out(call)
        done.set()

    def meets_and_fails(call):
        together(call)
        # A compensation may overtake an action in flight; then the barrier rows would be others.
        done.wait(MEETING_SECONDS)
        fail(call)

    s.on("out", meets_and_commits)
    s.on("in", meets_and_fails)
    made.submit()
    expect_undone(s)
    expect_equal("calls", len(s.calls), 4)


CHECKS = [
    Check("saga: wait, both steps succeed", waits),
    Check("saga: without wait, the answer comes before the branches", does_not_wait),
    Check("saga: wait, the second step fails", fails_waited),
    Check("saga: without wait, the second step fails", fails),
    Check("saga: an ongoing step is asked again", ongoing),
    Check("saga: an answer lost after the commit, the barrier filters the repetition", lost_answer),
    Check("saga: submitted again after its end", again),
    Check("concurrent saga: all steps are in flight at once", concurrent_together),
    Check("concurrent saga: order, the last step waits for both others", concurrent_ordered),
    Check("concurrent saga: one of two fails", concurrent_fails),
]
