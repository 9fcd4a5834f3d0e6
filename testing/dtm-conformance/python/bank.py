"""Accounts in MySQL, changed behind the barrier of dtmcli."""

from urllib.parse import unquote, urlsplit

import pymysql
from dtmcli import barrier, utils

START_BALANCE = 1000

# The client writes its barrier rows into this table, by this name.
BARRIER_TABLE = """create table if not exists dtm_barrier.barrier (
  id bigint primary key auto_increment,
  trans_type varchar(45) default '', gid varchar(128) default '', branch_id varchar(128) default '',
  op varchar(45) default '', barrier_id varchar(45) default '', reason varchar(45) default '',
  create_time datetime default now(), update_time datetime default now(),
  key (create_time), key (update_time), unique key (gid, branch_id, op, barrier_id)
) engine = InnoDB default charset = utf8mb4"""

ACCOUNT_TABLE = """create table if not exists conformance_python.account (
  name varchar(128) primary key, balance int not null, frozen int not null default 0
) engine = InnoDB default charset = utf8mb4"""


class Bank:
    def __init__(self, mysql_url):
        parts = urlsplit(mysql_url)
        self.settings = {
            "host": parts.hostname,
            "port": parts.port or 3306,
            "user": unquote(parts.username or "root"),
            "password": unquote(parts.password or ""),
        }
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("create database if not exists dtm_barrier")
            cursor.execute("create database if not exists conformance_python")
            cursor.execute(BARRIER_TABLE)
            cursor.execute(ACCOUNT_TABLE)
            connection.commit()

    def connect(self):
        return pymysql.connect(**self.settings)

    def guarded(self, do):
        """A branch that runs a change behind the client's barrier."""

        def run(call):
            with self.connect() as connection, connection.cursor() as cursor:
                branch_barrier(call).call(cursor, do)

        return run

    def query_prepared(self, call):
        with self.connect() as connection, connection.cursor() as cursor:
            branch_barrier(call).query_prepared(cursor)

    def open_accounts(self, key, names):
        with self.connect() as connection, connection.cursor() as cursor:
            for name in names:
                cursor.execute(
                    "insert into conformance_python.account (name, balance) values (%s, %s)", (key + name, START_BALANCE)
                )
            connection.commit()

    def balances(self, key):
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                "select name, balance, frozen from conformance_python.account where name like %s", (f"{key}%",)
            )
            return {name[len(key) :]: (balance, frozen) for name, balance, frozen in cursor.fetchall()}

    def barrier_rows(self, gid):
        """As `branch_id:op:reason`, sorted by branch and op."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                "select branch_id, op, reason from dtm_barrier.barrier where gid = %s order by branch_id, op", (gid,)
            )
            return [":".join(row) for row in cursor.fetchall()]


def branch_barrier(call):
    query = call.query
    return barrier.BranchBarrier(query["trans_type"], query["gid"], query["branch_id"], query["op"])


def adjust(account, amount):
    """A balance below zero is a failure."""

    def run(cursor):
        change_one(
            cursor,
            "update conformance_python.account set balance = balance + %s where name = %s and balance + %s >= 0",
            (amount, account, amount),
        )

    return run


def freeze(account, amount):
    def run(cursor):
        change_one(
            cursor,
            "update conformance_python.account set frozen = frozen + %s where name = %s and balance + frozen + %s >= 0",
            (amount, account, amount),
        )

    return run


def settle(account, amount):
    def run(cursor):
        change_one(
            cursor,
            "update conformance_python.account set balance = balance + %s, frozen = frozen - %s where name = %s",
            (amount, amount, account),
        )

    return run


def change_one(cursor, statement, values):
    if cursor.execute(statement, values) == 0:
        raise utils.DTMFailureError("the balance does not allow it")
