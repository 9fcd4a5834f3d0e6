"""Reads one request target a line and prints what services in Python would take for the identity of the call."""
import json
import sys
from urllib.parse import parse_qs, parse_qsl, urlsplit

NAMES = ["gid", "trans_type", "branch_id", "op"]

for line in sys.stdin:
    query = urlsplit(line.rstrip("\n")).query
    values = parse_qs(query, keep_blank_values=True)
    by_semicolon = parse_qs(query, keep_blank_values=True, separator=";")
    print(json.dumps({
        "first": {name: values.get(name, [None])[0] for name in NAMES},
        "last": {name: values.get(name, [None])[-1] for name in NAMES},
        "dict": {name: dict(parse_qsl(query)).get(name) for name in NAMES},
        "semicolon": {name: by_semicolon.get(name, [None])[-1] for name in NAMES},
    }))
