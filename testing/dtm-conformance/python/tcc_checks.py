from dtmcli import tcc, utils

from bank import START_BALANCE, freeze, settle
from checks import Check, expect_equal
from scenario import fail, first

AMOUNT = 30


def call_branch(s, transaction, name, amount):
    bank = s.bank
    account = s.key + name
    return transaction.call_branch(
        {"amount": amount},
        s.on(f"try{name}", bank.guarded(freeze(account, amount))),
        s.on(f"confirm{name}", bank.guarded(settle(account, amount))),
        s.on(f"cancel{name}", bank.guarded(freeze(account, -amount))),
    )


def transfer(s, amount):
    def run(transaction):
        call_branch(s, transaction, "a", -AMOUNT)
        call_branch(s, transaction, "b", amount)

    return run


def expect_confirmed(s):
    s.until_status("succeed")
    s.expect_balances(a=(970, 0), b=(1030, 0))
    s.expect_barrier("01:confirm:confirm", "01:try:try", "02:confirm:confirm", "02:try:try")
    s.expect_branches("01:cancel:prepared", "01:confirm:succeed", "02:cancel:prepared", "02:confirm:succeed")


def confirms(s):
    s.open_accounts("a", "b")
    expect_equal("answer", tcc.tcc_global_transaction(s.dtm, s.gid, transfer(s, AMOUNT)), s.gid)
    expect_confirmed(s)
    s.expect_order("trya:01:try", "tryb:02:try", "confirmb:02:confirm", "confirma:01:confirm")
    expect_equal("body of a confirm", s.calls[2].body, '{"amount": 30}')


def try_fails(s):
    s.open_accounts("a", "b")
    expect_equal("answer", tcc.tcc_global_transaction(s.dtm, s.gid, transfer(s, -2 * START_BALANCE)), "")
    s.until_status("failed")
    s.expect_order("trya:01:try", "tryb:02:try", "cancelb:02:cancel", "cancela:01:cancel")
    s.expect_balances(a=(1000, 0), b=(1000, 0))
    s.expect_barrier("01:cancel:cancel", "01:try:try", "02:cancel:cancel", "02:try:cancel")


def nested(s, inner_try=None):
    """Freezes on a, then on b, whose try freezes on c."""

    def run(transaction):
        call_branch(s, transaction, "a", -2 * AMOUNT)
        bank = s.bank
        freeze_b = bank.guarded(freeze(f"{s.key}b", AMOUNT))

        def outer(call):
            freeze_b(call)
            inner = tcc.tcc_from_req(s.dtm, call.query["gid"], call.query["branch_id"])
            try_url = s.on("tryc", inner_try or bank.guarded(freeze(f"{s.key}c", AMOUNT)))
            inner.call_branch(
                {"amount": AMOUNT},
                try_url,
                s.on("confirmc", bank.guarded(settle(f"{s.key}c", AMOUNT))),
                s.on("cancelc", bank.guarded(freeze(f"{s.key}c", -AMOUNT))),
            )

        transaction.call_branch(
            {"amount": AMOUNT},
            s.on("tryb", outer),
            s.on("confirmb", bank.guarded(settle(f"{s.key}b", AMOUNT))),
            s.on("cancelb", bank.guarded(freeze(f"{s.key}b", -AMOUNT))),
        )

    return run


def nested_confirms(s):
    s.open_accounts("a", "b", "c")
    expect_equal("answer", tcc.tcc_global_transaction(s.dtm, s.gid, nested(s)), s.gid)
    s.until_status("succeed")
    s.expect_order(
        "trya:01:try",
        "tryb:02:try",
        "tryc:0201:try",
        "confirmc:0201:confirm",
        "confirmb:02:confirm",
        "confirma:01:confirm",
    )
    s.expect_balances(a=(940, 0), b=(1030, 0), c=(1030, 0))


def nested_fails(s):
    s.open_accounts("a", "b", "c")
    expect_equal("answer", tcc.tcc_global_transaction(s.dtm, s.gid, nested(s, fail)), "")
    s.until_status("failed")
    s.expect_order(
        "trya:01:try",
        "tryb:02:try",
        "tryc:0201:try",
        "cancelc:0201:cancel",
        "cancelb:02:cancel",
        "cancela:01:cancel",
    )
    s.expect_balances(a=(1000, 0), b=(1000, 0), c=(1000, 0))
    s.expect_barrier(
        "01:cancel:cancel",
        "01:try:try",
        "02:cancel:cancel",
        "02:try:try",
        "0201:cancel:cancel",
        "0201:try:cancel",
    )


def confirm_again(s):
    s.open_accounts("a", "b")

    def run(transaction):
        transfer(s, AMOUNT)(transaction)
        s.on("confirmb", first(1, utils.DTMFailureError("not now"), s.handlers["confirmb"]))

    expect_equal("answer", tcc.tcc_global_transaction(s.dtm, s.gid, run), s.gid)
    expect_confirmed(s)
    s.expect_order(
        "trya:01:try", "tryb:02:try", "confirmb:02:confirm", "confirmb:02:confirm", "confirma:01:confirm"
    )


def own_error(s):
    s.open_accounts("a")

    def run(transaction):
        call_branch(s, transaction, "a", -AMOUNT)
        raise ValueError("the program's own")

    expect_equal("answer", tcc.tcc_global_transaction(s.dtm, s.gid, run), "")
    s.until_status("failed")
    s.expect_order("trya:01:try", "cancela:01:cancel")
    s.expect_balances(a=(1000, 0))


CHECKS = [
    Check("tcc: two branches are confirmed, newest first", confirms),
    Check("tcc: a try fails, all are cancelled, newest first", try_fails),
    Check("tcc: nested, three branches are confirmed, newest first", nested_confirms),
    Check("tcc: a nested try fails", nested_fails),
    Check("tcc: a confirm that fails is asked again", confirm_again),
    Check("tcc: the program's own error cancels", own_error),
]
