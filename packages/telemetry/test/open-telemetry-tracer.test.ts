import type { BranchCall, TraceContext, Transaction } from '@counterstep/core'
import type { RunSpan } from '@counterstep/engine'
import type { Gid } from '@counterstep/protocol'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { isTracingSuppressed } from '@opentelemetry/core'
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOpenTelemetryTracer } from '../src/open-telemetry-tracer.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const CALLER: TraceContext = { parent: `00-${TRACE_ID}-b7ad6b7169203331-01`, state: 'vendor=42' }
const NOW = 1_800_000_000_000
const HOUR_MS = 3_600_000
const GID = 'order-1' as Gid
const SECRET = 'canary-7f3a'

const exporter = new InMemorySpanExporter()

function provide(options: ConstructorParameters<typeof TracerProvider>[0] = {}): void {
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })], ...options }),
  )
}

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})
afterEach(() => {
  exporter.reset()
  // Other files of this process have no provider.
  trace.disable()
  context.disable()
})

function buildTransaction(given: Partial<Transaction> = {}, stored: TraceContext | undefined = CALLER) {
  const definition = { kind: 'saga', branches: [], name: 'transfer', ...(stored && { trace: stored }) }
  return {
    ...{ gid: 'order-1', kind: 'saga', status: 'submitted', epoch: 2, createdAt: NOW - 50, definition },
    ...given,
  } as unknown as Transaction
}

function buildCall(given: Partial<BranchCall> = {}): BranchCall {
  return {
    ...{ gid: 'order-1', kind: 'saga', branchId: 'debit', op: 'action', attempt: 1, epoch: 2 },
    ...{
      method: 'POST',
      url: `https://bank.example:8443/debit?token=${SECRET}`,
      body: `{"pin":"${SECRET}"}`,
    },
    ...{ contentType: 'application/json', headers: { authorization: SECRET }, timeoutMs: 1_000 },
    ...given,
  } as BranchCall
}

/** Runs a transaction that has one call, and returns its spans by their names. */
function runOnce(transaction = buildTransaction(), claimMs?: number, call = buildCall()) {
  const run = startRun(transaction, claimMs)
  run.startCall(call).end({ result: 'success', statusCode: 200 })
  run.startSave().end('saved')
  run.end({ ...transaction, status: 'succeeded' } as Transaction, 'finished')
  return byName()
}

function startRun(transaction: Transaction, claimMs: number | undefined): RunSpan {
  const run = createOpenTelemetryTracer(() => NOW).startRun(transaction, claimMs)
  if (run === undefined) throw new Error('it is not recorded')
  return run
}

function byName(): ReadonlyMap<string, ReadableSpan> {
  return new Map(exporter.getFinishedSpans().map((span) => [span.name, span]))
}

function findParent(span: ReadableSpan | undefined): string | undefined {
  return span?.parentSpanContext?.spanId
}

function toMs([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1_000 + nanoseconds / 1e6
}

describe('the span of an accept', () => {
  it('An accept goes on in the trace of its caller, and is what is stored', () => {
    provide()
    const span = createOpenTelemetryTracer().startAccept({ gid: GID, kind: 'saga' }, CALLER)
    span.end()
    const accept = byName().get('accept saga')
    expect(findParent(accept)).toBe('b7ad6b7169203331')
    expect(accept?.kind).toBe(SpanKind.SERVER)
    const id = accept?.spanContext().spanId
    expect(span.trace).toEqual({ parent: `00-${TRACE_ID}-${id}-01`, state: 'vendor=42' })
  })

  it('An accept stands below the span in force, as an instrumented web framework has it', () => {
    provide()
    const server = trace.getTracer('test').startSpan('POST /v1/transactions')
    context.with(trace.setSpan(context.active(), server), () =>
      createOpenTelemetryTracer().startAccept({ gid: GID, kind: 'tcc' }, CALLER).end(),
    )
    const accept = byName().get('accept tcc')
    expect([findParent(accept), accept?.kind]).toEqual([server.spanContext().spanId, SpanKind.INTERNAL])
  })

  it('A refused submit says why by its code alone', () => {
    provide()
    const span = createOpenTelemetryTracer().startAccept({ gid: GID, kind: 'saga' }, undefined)
    span.end(Object.assign(new Error(SECRET), { code: 'SAGA_GID_CONFLICT' }))
    const accept = byName().get('accept saga')
    expect(accept?.status).toEqual({ code: SpanStatusCode.ERROR })
    expect(accept?.attributes).toEqual({
      'counterstep.gid': 'order-1',
      'counterstep.kind': 'saga',
      'error.type': 'SAGA_GID_CONFLICT',
    })
  })
})

describe('the spans of a run', () => {
  it('Calls and saves stand below the run, and the run below the accept', () => {
    provide()
    const spans = runOnce()
    const run = spans.get('run saga')
    expect(findParent(run)).toBe('b7ad6b7169203331')
    expect([...spans.keys()].sort()).toEqual(['action debit', 'run saga', 'save'])
    for (const name of ['action debit', 'save'])
      expect(findParent(spans.get(name))).toBe(run?.spanContext().spanId)
    expect(run?.attributes).toMatchObject({
      'counterstep.name': 'transfer',
      'counterstep.epoch': 2,
      'counterstep.status': 'succeeded',
      'counterstep.end': 'finished',
    })
  })

  it('A call has what HTTP spans have, and no query, header or content', () => {
    provide()
    const call = runOnce().get('action debit')
    expect(call?.kind).toBe(SpanKind.CLIENT)
    expect(call?.attributes).toEqual({
      'counterstep.gid': 'order-1',
      'counterstep.branch': 'debit',
      'counterstep.op': 'action',
      'counterstep.attempt': 1,
      'counterstep.result': 'success',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': 'bank.example',
      'server.port': 8443,
      'url.full': 'https://bank.example:8443/debit',
    })
    const all = exporter
      .getFinishedSpans()
      .map(({ name, attributes, events }) => ({ name, attributes, events }))
    expect(JSON.stringify(all)).not.toContain(SECRET)
  })

  it.each([
    ['bank:/credit?x=1', { 'peer.service': 'bank', 'url.full': 'bank:/credit' }],
    [
      'grpc://bank.example:58080/bank.Bank/Credit',
      { 'server.port': 58_080, 'url.full': 'grpc://bank.example:58080/bank.Bank/Credit' },
    ],
    ['http://u:p@127.0.0.1/credit', { 'server.address': '127.0.0.1', 'server.port': 80 }],
    [`https://bank.example/${'x'.repeat(4_000)}`, { 'server.port': 443 }],
  ])('The URL %s is shown without a login, and is cut', (url, expected) => {
    provide()
    const call = runOnce(buildTransaction(), undefined, buildCall({ url })).get('action debit')
    expect(call?.attributes).toMatchObject(expected)
    expect(String(call?.attributes['url.full']).length).toBeLessThanOrEqual(1_024)
    expect(String(call?.attributes['url.full'])).not.toContain('@')
  })

  it.each([
    [{ result: 'failure', statusCode: 409 }, '409'],
    [{ result: 'unknown', error: 'timeout' }, 'timeout'],
    [undefined, 'bug'],
  ] as const)('A call that ends with %o is an error', (answer, type) => {
    provide()
    const run = startRun(buildTransaction(), undefined)
    run.startCall(buildCall({ attempt: 3 })).end(answer)
    const call = byName().get('action debit')
    expect(call?.status.code).toBe(SpanStatusCode.ERROR)
    expect(call?.attributes).toMatchObject({ 'error.type': type, 'http.request.resend_count': 2 })
  })

  it('A claim is shown with its time, at the beginning of the run', () => {
    provide()
    const spans = runOnce(buildTransaction(), 40)
    const [claim, run] = [spans.get('claim'), spans.get('run saga')]
    expect(findParent(claim)).toBe(run?.spanContext().spanId)
    expect(claim && [toMs(claim.startTime), toMs(claim.endTime)]).toEqual([NOW - 40, NOW])
    expect(run && toMs(run.startTime)).toBe(NOW - 40)
  })

  it('A run over an hour after the accept is a trace of its own, with a link', () => {
    provide()
    const run = runOnce(buildTransaction({ createdAt: NOW - HOUR_MS - 1 })).get('run saga')
    expect(findParent(run)).toBeUndefined()
    expect(run?.spanContext().traceId).not.toBe(TRACE_ID)
    expect(run?.links.map((link) => link.context.spanId)).toEqual(['b7ad6b7169203331'])
    exporter.reset()
    expect(findParent(runOnce(buildTransaction({ createdAt: NOW - HOUR_MS })).get('run saga'))).toBeDefined()
  })

  it('A run that is reported to end twice has one span, with the first end', () => {
    provide()
    const transaction = buildTransaction()
    const run = startRun(transaction, undefined)
    run.end(transaction, 'lost')
    run.end(transaction, 'finished')
    expect(exporter.getFinishedSpans().map(({ attributes }) => attributes['counterstep.end'])).toEqual([
      'lost',
    ])
  })
})

describe('what is sent to a service', () => {
  const send = (run: RunSpan) => {
    const span = run.startCall(buildCall())
    return { trace: span.trace, isSuppressed: span.run(() => isTracingSuppressed(context.active())) }
  }

  it('A service goes on below the span of its call, and no instrumentation of HTTP adds one between', () => {
    provide()
    const run = startRun(buildTransaction(), undefined)
    const span = run.startCall(buildCall())
    span.end({ result: 'success', statusCode: 200 })
    const id = byName().get('action debit')?.spanContext().spanId
    expect(span.trace).toEqual({ parent: `00-${TRACE_ID}-${id}-01`, state: 'vendor=42' })
    expect(send(run).isSuppressed).toBe(true)
  })

  it('A trace that is not sampled is stored and handed on as such, and nothing below its accept is made', () => {
    provide({ sampler: new AlwaysOffSampler() })
    const tracer = createOpenTelemetryTracer(() => NOW)
    const accept = tracer.startAccept({ gid: GID, kind: 'saga' }, CALLER)
    expect(accept.trace?.parent).toMatch(new RegExp(`^00-${TRACE_ID}-[\\da-f]{16}-00$`))
    expect(accept.trace?.parent).not.toContain('b7ad6b7169203331')
    expect(tracer.startRun(buildTransaction({}, accept.trace), undefined)).toBeUndefined()
    expect(exporter.getFinishedSpans()).toEqual([])
  })

  it('Without a provider the caller stays what is stored, and nothing is made', () => {
    const tracer = createOpenTelemetryTracer(() => NOW)
    expect(tracer.startAccept({ gid: GID, kind: 'saga' }, CALLER).trace).toEqual(CALLER)
    expect(tracer.startAccept({ gid: GID, kind: 'saga' }, undefined).trace).toBeUndefined()
    expect(tracer.startRun(buildTransaction(), undefined)).toBeUndefined()
    expect(tracer.startRun(buildTransaction({}, undefined), undefined)).toBeUndefined()
  })
})
