"""Receives OTLP over HTTP by OpenTelemetry's own protobuf types, and prints each span and each metric as a line of JSON."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

printing = Lock()


def show(value):
    with printing:
        print(json.dumps(value), flush=True)


def read_attributes(pairs):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}


def show_spans(body):
    request = ExportTraceServiceRequest.FromString(body)
    for resource_spans in request.resource_spans:
        resource = read_attributes(resource_spans.resource.attributes)
        service = resource.get("service.name")
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                show({"span": {
                    "service": service,
                    "resource": {key: str(value) for key, value in resource.items()},
                    "scope": scope_spans.scope.name,
                    "name": span.name,
                    "kind": Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
                    "traceId": span.trace_id.hex(),
                    "spanId": span.span_id.hex(),
                    "parentId": span.parent_span_id.hex(),
                    "startNs": str(span.start_time_unix_nano),
                    "endNs": str(span.end_time_unix_nano),
                    "status": Status.StatusCode.Name(span.status.code).removeprefix("STATUS_CODE_"),
                    "attributes": read_attributes(span.attributes),
                    "events": [{"name": each.name, **read_attributes(each.attributes)} for each in span.events],
                    "links": [each.span_id.hex() for each in span.links],
                }})
    return ExportTraceServiceResponse()


def read_point(kind, point):
    value = {"count": point.count, "sum": point.sum, "buckets": list(point.bucket_counts),
             "bounds": list(point.explicit_bounds)} if kind == "histogram" else point.as_double
    return {"attributes": read_attributes(point.attributes), "value": value}


def show_metrics(body):
    request = ExportMetricsServiceRequest.FromString(body)
    for resource_metrics in request.resource_metrics:
        for scope_metrics in resource_metrics.scope_metrics:
            for metric in scope_metrics.metrics:
                kind = metric.WhichOneof("data")
                points = [read_point(kind, point) for point in getattr(metric, kind).data_points]
                show({"metric": {"name": metric.name, "unit": metric.unit, "kind": kind, "points": points}})
    return ExportMetricsServiceResponse()


PATHS = {"/v1/traces": show_spans, "/v1/metrics": show_metrics}


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.read_body()
        receive = PATHS.get(self.path)
        answer = b"" if receive is None else receive(body).SerializeToString()
        self.send_response(404 if receive is None else 200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def read_body(self):
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers["content-length"]))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # A server of these tests is killed while it is connected.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


server = Server(("127.0.0.1", 0), Receiver)
show({"port": server.server_port})
try:
    server.serve_forever()
except KeyboardInterrupt:
    sys.exit(0)
