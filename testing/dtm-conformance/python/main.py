"""Drives an orchestrator with dtmcli from PyPI, unchanged."""

import argparse
import os
import sys

import message_checks
import saga_checks
import tcc_checks
from checks import run_checks
from scenario import World


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtm", default=os.environ.get("DTM_URL"), help="ends in /api/dtmsvr")
    parser.add_argument("--mysql", default=os.environ.get("TEST_MYSQL_URL"), help="mysql://user:password@host:port")
    parser.add_argument("--redis", help="not used: dtmcli for Python has no barrier in Redis")
    arguments = parser.parse_args()
    if not arguments.dtm or not arguments.mysql:
        parser.error("--dtm and --mysql are needed")
    # dtmcli prints what it does; the report stays readable on its own.
    report, sys.stdout = sys.stdout, sys.stderr
    checks = saga_checks.CHECKS + tcc_checks.CHECKS + message_checks.CHECKS
    return run_checks(World(arguments.dtm, arguments.mysql), checks, report)


if __name__ == "__main__":
    sys.exit(main())
