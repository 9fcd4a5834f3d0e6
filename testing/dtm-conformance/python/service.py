"""The business service of all checks: a path belongs to one scenario by its first part."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from dtmcli import utils


class Ongoing(Exception):
    pass


class Broken(Exception):
    pass


class Call:
    def __init__(self, path, query, headers, body):
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body


class Service:
    def __init__(self):
        self.scenarios = {}
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.answer()

            def do_POST(self):
                self.answer()

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                status, text = service.handle(self.path, self.headers, body)
                payload = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_):
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def handle(self, target, headers, body):
        parts = urlsplit(target)
        key, _, path = parts.path.lstrip("/").partition("/")
        scenario = self.scenarios.get(key)
        if scenario is None:
            return 404, "no such scenario"
        query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        try:
            scenario.serve(Call(path, query, headers, body))
        except utils.DTMFailureError as failure:
            return 409, json.dumps({"dtm_result": "FAILURE", "message": str(failure)})
        except Ongoing:
            return 425, '{"dtm_result":"ONGOING"}'
        except Exception as problem:
            return 500, f"{type(problem).__name__} {problem}"
        return 200, '{"dtm_result":"SUCCESS"}'
