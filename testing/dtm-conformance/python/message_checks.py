from dtmcli import barrier, msg, utils

from bank import START_BALANCE, adjust
from checks import Check, expect_equal, expect_raises
from scenario import first, succeed
from service import Broken, Ongoing

AMOUNT = 30


def message(s):
    """A message that gives the amount to b, and the URL that is asked when it is in doubt."""
    made = msg.Msg(s.dtm, s.gid).add({"amount": AMOUNT}, s.on("in", s.bank.guarded(adjust(f"{s.key}b", AMOUNT))))
    made.trans_base.retry_interval = 1
    made.trans_base.timeout_to_fail = 3
    return made, s.on("query", s.bank.query_prepared)


def do_and_submit(s, made, query, local):
    with s.bank.connect() as connection, connection.cursor() as cursor:
        made.do_and_submit_db(query, cursor, local)


def commit_locally(s):
    """The local transaction of a message, as do_and_submit would run it."""
    with s.bank.connect() as connection, connection.cursor() as cursor:
        barrier.BranchBarrier("msg", s.gid, "00", "msg").call(cursor, adjust(f"{s.key}a", -AMOUNT))


def expect_delivered(s):
    s.until_status("succeed")
    s.expect_balances(a=(970, 0), b=(1030, 0))
    s.expect_barrier("00:msg:msg", "01:action:action")
    s.expect_branches("01:action:succeed")


def expect_not_delivered(s, *barrier_rows):
    s.until_status("failed")
    s.expect_balances(a=(1000, 0), b=(1000, 0))
    s.expect_barrier(*barrier_rows)
    expect_equal("calls of the action", s.count("in"), 0)


def commits(s):
    s.open_accounts("a", "b")
    made, query = message(s)
    do_and_submit(s, made, query, adjust(f"{s.key}a", -AMOUNT))
    expect_delivered(s)
    s.expect_order("in:01:action")


def local_fails(s):
    s.open_accounts("a", "b")
    made, query = message(s)
    expect_raises(
        utils.DTMFailureError, lambda: do_and_submit(s, made, query, adjust(f"{s.key}a", -2 * START_BALANCE))
    )
    expect_not_delivered(s)
    s.expect_order()


def doubt_committed(s):
    s.open_accounts("a", "b")
    made, query = message(s)

    def local(_barrier):
        commit_locally(s)
        raise Broken("after the commit")

    expect_raises(Broken, lambda: made.do_and_submit(query, local))
    expect_delivered(s)
    s.expect_order("query:00:msg", "in:01:action")


def doubt_not_committed(s):
    s.open_accounts("a", "b")
    made, query = message(s)

    def local(_barrier):
        raise Broken("before the commit")

    expect_raises(Broken, lambda: made.do_and_submit(query, local))
    expect_not_delivered(s, "00:msg:rollback")
    s.expect_order("query:00:msg")


def dies_after_commit(s):
    s.open_accounts("a", "b")
    made, query = message(s)
    made.prepare(query)
    commit_locally(s)
    expect_delivered(s)
    s.expect_order("query:00:msg", "in:01:action")


def dies_before_commit(s):
    s.open_accounts("a", "b")
    made, query = message(s)
    made.prepare(query)
    expect_not_delivered(s, "00:msg:rollback")
    # The class that dtmcli throws for a local transaction that comes too late.
    expect_raises(Exception, lambda: commit_locally(s))
    expect_raises(utils.DTMFailureError, made.submit)
    expect_not_delivered(s, "00:msg:rollback")
    s.expect_order("query:00:msg")


def back_check_ongoing(s):
    s.open_accounts("a", "b")
    made, query = message(s)
    s.on("query", first(1, Ongoing(), s.bank.query_prepared))
    made.prepare(query)
    commit_locally(s)
    expect_delivered(s)
    s.expect_order("query:00:msg", "query:00:msg", "in:01:action")


def plain(s):
    made = msg.Msg(s.dtm, s.gid).add({"n": 1}, s.on("one", succeed)).add({"n": 2}, s.on("two", succeed))
    made.set_wait_result()
    made.submit()
    s.expect_order("one:01:action", "two:02:action")
    s.until_status("succeed")
    expect_equal("bodies", [call.body for call in s.calls], ['{"n": 1}', '{"n": 2}'])


def never_rolls_back(s):
    made = msg.Msg(s.dtm, s.gid).add({}, s.on("one", first(1, utils.DTMFailureError("not now"), succeed)))
    made.trans_base.retry_interval = 1
    made.submit()
    s.until_status("succeed")
    s.expect_order("one:01:action", "one:01:action")


def gids_are_new(s):
    gids = 50
    expect_equal("different gids", len({utils.gen_gid(s.dtm) for _ in range(gids)}), gids)


CHECKS = [
    Check("msg: doAndSubmit, the local transaction commits", commits),
    Check("msg: doAndSubmit, the local transaction fails", local_fails),
    Check("msg: doAndSubmit, in doubt, the local transaction had committed", doubt_committed),
    Check("msg: doAndSubmit, in doubt, the local transaction had not committed", doubt_not_committed),
    Check("msg: the program dies after its commit, the back-check delivers", dies_after_commit),
    Check("msg: the program dies before its commit, the back-check ends it", dies_before_commit),
    Check("msg: an ongoing back-check is asked again", back_check_ongoing),
    Check("msg: plain, without prepare", plain),
    Check("msg: a failing action is asked again for ever", never_rolls_back),
    Check("gids are new each time", gids_are_new),
]
