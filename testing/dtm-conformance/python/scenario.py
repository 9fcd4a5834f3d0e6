"""What all checks share, and each check's own part of it."""

import secrets
import threading

import requests
from dtmcli import utils

from bank import Bank
from checks import eventually, expect_equal
from service import Service

QUERY_TIMEOUT_SECONDS = 10


class World:
    def __init__(self, dtm, mysql_url):
        self.dtm = dtm
        self.bank = Bank(mysql_url)
        self.service = Service()

    def new_scenario(self):
        scenario = Scenario(self)
        self.service.scenarios[scenario.key] = scenario
        return scenario


class Scenario:
    """A gid, branch URLs, accounts, and the log of the branches' calls."""

    def __init__(self, world):
        self.world = world
        self.dtm = world.dtm
        self.bank = world.bank
        self.key = f"c{secrets.token_hex(6)}"
        self.gid = f"python-{self.key}"
        self.handlers = {}
        self.calls = []
        self.lock = threading.Lock()

    def on(self, path, do):
        """Sets what a branch does and returns its URL."""
        self.handlers[path] = do
        return f"{self.world.service.url}/{self.key}/{path}"

    def serve(self, call):
        with self.lock:
            self.calls.append(call)
        self.handlers[call.path](call)

    def count(self, path):
        return sum(1 for call in self.calls if call.path == path)

    def order(self):
        return [f"{call.path}:{call.query.get('branch_id')}:{call.query.get('op')}" for call in self.calls]

    def expect_order(self, *wanted):
        expect_equal("calls", self.order(), list(wanted))

    def query(self):
        answer = requests.get(f"{self.dtm}/query", params={"gid": self.gid}, timeout=QUERY_TIMEOUT_SECONDS)
        expect_equal("status of query", answer.status_code, 200)
        return answer.json()

    def until_status(self, wanted):
        def compare():
            expect_equal("status", (self.query()["transaction"] or {}).get("status"), wanted)

        eventually(compare)

    def expect_branches(self, *wanted):
        """The rows may be written after the transaction's status."""

        def compare():
            rows = [f"{row['branch_id']}:{row['op']}:{row['status']}" for row in self.query()["branches"]]
            expect_equal("branches", rows, list(wanted))

        eventually(compare)

    def open_accounts(self, *names):
        self.bank.open_accounts(self.key, names)

    def expect_balances(self, **wanted):
        """Each account as (balance, frozen)."""
        expect_equal("balances", self.bank.balances(self.key), wanted)

    def expect_barrier(self, *wanted):
        expect_equal("barrier rows", self.bank.barrier_rows(self.gid), list(wanted))


def succeed(_call):
    return None


def fail(_call):
    raise utils.DTMFailureError("no")


def first(times, problem, then):
    """Raises the problem for the first calls of a branch, then does what follows."""
    left = [times]
    lock = threading.Lock()

    def run(call):
        with lock:
            left[0] -= 1
            early = left[0] >= 0
        if early:
            raise problem
        then(call)

    return run
