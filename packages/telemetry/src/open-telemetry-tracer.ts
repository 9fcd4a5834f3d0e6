import type { BranchAnswer, BranchCall, TraceContext, Transaction } from '@counterstep/core'
import type {
  AcceptSpan,
  CallSpan,
  EngineTracer,
  RunSpan,
  SaveSpan,
  SubmittedTransaction,
} from '@counterstep/engine'
import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Link,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { toContext, toSpanContext, toTraceContext } from './trace-context.ts'

const SCOPE = 'counterstep'
/**
 * A node that takes up a transaction later than this after its accept begins a trace of its own, with a link to the caller's.
 * Tools that draw a trace cannot show one that goes on for days.
 */
const SAME_TRACE_MS_MAX = 60 * 60 * 1_000
const URL_LENGTH_MAX = 1_024
/** Tells an instrumentation of the HTTP client to add no span of its own to a call, and no second `traceparent`. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

/**
 * Makes spans of what an engine does, through the provider that is registered with `@opentelemetry/api`. No span has a
 * payload, a header or the query of a URL. The names of the attributes that HTTP has are those of OpenTelemetry's semantic
 * conventions (https://opentelemetry.io/docs/specs/semconv/http/http-spans/).
 *
 * @param now reads the epoch time in milliseconds.
 */
export function createOpenTelemetryTracer(now: () => number = Date.now): EngineTracer {
  const tracer = trace.getTracer(SCOPE)
  return {
    startAccept: (submitted, caller) => startAccept(tracer, submitted, caller),
    startRun: (transaction, claimMs) => startRun(tracer, transaction, claimMs, now()),
  }
}

function startAccept(
  tracer: Tracer,
  { gid, kind, name }: SubmittedTransaction,
  caller: TraceContext | undefined,
): AcceptSpan {
  const active = context.active()
  // An instrumentation of the HTTP server, or the app that embeds the engine, has a span already.
  const isWithin = trace.getSpan(active) !== undefined
  const isServer = !isWithin && caller !== undefined
  const span = tracer.startSpan(
    `accept ${kind}`,
    { kind: isServer ? SpanKind.SERVER : SpanKind.INTERNAL, attributes: describe(gid, kind, name) },
    isWithin ? active : toContext(caller),
  )
  return {
    trace: toTraceContext(span.spanContext()) ?? caller,
    end(error) {
      if (error !== undefined) setError(span, readErrorType(error))
      span.end()
    },
  }
}

function startRun(
  tracer: Tracer,
  { gid, kind, definition, createdAt, epoch }: Transaction,
  claimMs: number | undefined,
  now: number,
): RunSpan | undefined {
  const { trace: stored, name } = definition
  const isLate = stored !== undefined && now - createdAt > SAME_TRACE_MS_MAX
  const links: Link[] = isLate ? [{ context: toSpanContext(stored) }] : []
  const parent = toContext(isLate ? undefined : stored)
  const startTime = now - (claimMs ?? 0)
  const attributes = { ...describe(gid, kind, name), 'counterstep.epoch': epoch }
  const span = tracer.startSpan(`run ${kind}`, { startTime, attributes, links }, parent)
  // A trace that is not sampled stays so below this span.
  if (!span.isRecording()) return undefined
  const within = trace.setSpan(parent, span)
  if (claimMs !== undefined) tracer.startSpan('claim', { startTime }, within).end(now)
  return new Run(tracer, span, within)
}

class Run implements RunSpan {
  readonly trace: TraceContext | undefined
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #context: Context

  constructor(tracer: Tracer, span: Span, within: Context) {
    this.#tracer = tracer
    this.#span = span
    this.#context = within
    this.trace = toTraceContext(span.spanContext())
  }

  startCall(call: BranchCall): CallSpan {
    const { gid, branchId, op, attempt, method } = call
    const attributes: Attributes = {
      'counterstep.gid': gid,
      'counterstep.branch': branchId,
      'counterstep.op': op,
      'counterstep.attempt': attempt,
      'http.request.method': method,
      ...describeUrl(call.url),
      ...(attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {}),
    }
    const span = this.#tracer.startSpan(
      `${op} ${branchId}`,
      { kind: SpanKind.CLIENT, attributes },
      this.#context,
    )
    const sent = trace.setSpan(this.#context, span).setValue(SUPPRESS_TRACING, true)
    return {
      trace: toTraceContext(span.spanContext()),
      run: (send) => context.with(sent, send),
      end: (answer) => endCall(span, answer),
    }
  }

  startSave(): SaveSpan {
    const span = this.#tracer.startSpan('save', {}, this.#context)
    return {
      end(result) {
        span.setAttribute('counterstep.save.result', result)
        if (result === 'failed') setError(span, result)
        span.end()
      },
    }
  }

  /** The end may be reported twice, and the first report counts. */
  end({ status }: Transaction, how: string): void {
    if (!this.#span.isRecording()) return
    this.#span.setAttributes({ 'counterstep.status': status, 'counterstep.end': how })
    this.#span.end()
  }
}

function describe(gid: string, kind: string, name: string | undefined): Attributes {
  const named = name === undefined ? {} : { 'counterstep.name': name }
  return { 'counterstep.gid': gid, 'counterstep.kind': kind, ...named }
}

/** A query may hold secrets, so none is shown. */
function describeUrl(text: string): Attributes {
  const url = URL.parse(text)
  if (url === null) return {}
  const { protocol, hostname, host, port, pathname } = url
  // The URL of a named service is the name, a colon and a path.
  if (hostname === '') return { 'peer.service': protocol.slice(0, -1), 'url.full': cut(protocol + pathname) }
  return {
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    // The origin of a URL of gRPC is `null`.
    'url.full': cut(`${protocol}//${host}${pathname}`),
  }
}

function cut(url: string): string {
  return url.slice(0, URL_LENGTH_MAX)
}

function endCall(span: Span, answer: BranchAnswer | undefined): void {
  const { result, statusCode, error } = answer ?? { result: 'unknown', error: 'bug' }
  span.setAttribute('counterstep.result', result)
  if (statusCode !== undefined) span.setAttribute('http.response.status_code', statusCode)
  if (result === 'unknown' || result === 'failure') setError(span, error ?? String(statusCode))
  span.end()
}

function setError(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function readErrorType(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'error'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error ? error.name : 'error'
}
