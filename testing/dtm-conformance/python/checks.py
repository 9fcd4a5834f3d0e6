"""Checks and their report: one line each, and the tally at the end."""

import os
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

# Everything that is waited for ends within this bound, or the check fails.
WAIT_MAX_SECONDS = 40
POLL_SECONDS = 0.03
CHECKS_AT_ONCE = 8


class Check:
    """A check with a defect shows what DTM v1.19 does wrong: against DTM itself its failure is expected."""

    def __init__(self, name, run, defect=""):
        self.name = name
        self.run = run
        self.defect = defect


class Tally:
    def __init__(self, report):
        self.lock = threading.Lock()
        self.report = report
        self.passed = self.failed = self.known = 0

    def add(self, check, problem):
        with self.lock:
            if problem is None:
                self.passed += 1
                line = f"ok {check.name}"
            elif check.defect and os.environ.get("CONFORMANCE_TARGET") == "dtm":
                self.known += 1
                line = f"known {check.name}: DTM defect {check.defect}: {problem}"
            else:
                self.failed += 1
                line = f"not ok {check.name}: {problem}"
            print(line, file=self.report, flush=True)

    def finish(self):
        line = f"{self.passed} passed, {self.failed} failed"
        if self.known:
            line += f", {self.known} known"
        print(line, file=self.report, flush=True)
        return 1 if self.failed or not self.passed else 0


def run_checks(world, checks, report):
    tally = Tally(report)

    def run(check):
        try:
            check.run(world.new_scenario())
        except Exception as problem:  # Whatever goes wrong is the check's line in the report.
            traceback.print_exc()
            tally.add(check, f"{type(problem).__name__} {problem}")
        else:
            tally.add(check, None)

    with ThreadPoolExecutor(CHECKS_AT_ONCE) as pool:
        list(pool.map(run, checks))
    return tally.finish()


def eventually(condition):
    """Polls until the condition no longer fails, and fails with its last reason at the bound."""
    deadline = time.monotonic() + WAIT_MAX_SECONDS
    while True:
        try:
            return condition()
        except AssertionError as reason:
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {WAIT_MAX_SECONDS} s: {reason}") from reason
        time.sleep(POLL_SECONDS)


def expect_equal(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what}: got {got}, wanted {wanted}")


def expect_contains(what, got, text):
    if text not in (got or ""):
        raise AssertionError(f"{what}: {text!r} is not in {got!r}")


def expect_raises(kind, run):
    """The exception itself must be of that class, not of a subclass: dtmcli tells a failure by it."""
    try:
        run()
    except Exception as thrown:
        if type(thrown) is kind:
            return
        raise AssertionError(f"thrown: got {thrown!r}, wanted {kind.__name__}") from thrown
    raise AssertionError(f"nothing was thrown, wanted {kind.__name__}")
