import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { context, propagation, type SpanContext, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrateBarrier, sqliteBarrier } from '../src/barrier/sqlite.ts'
import { createClient } from '../src/client.ts'
import { fetchHandler } from '../src/fetch.ts'
import { setTraceJoiner } from '../src/telemetry/trace-joiner.ts'
import { joinTraces } from '../src/telemetry.ts'
import { runStep } from '../src/workflow/run-step.ts'
import { step } from '../src/workflow/step.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const CALL_SPAN = 'b7ad6b7169203331'

const exporter = new InMemorySpanExporter()

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
  )
  joinTraces()
})
// The other files of this process have no provider.
afterAll(() => {
  setTraceJoiner(undefined)
  trace.disable()
  context.disable()
  propagation.disable()
})

function openBank() {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  return sqliteBarrier(database)
}

function buildCall(op: 'action' | 'compensate'): Request {
  const query = `gid=order-1&trans_type=saga&branch_id=debit&op=${op}`
  return new Request(`http://bank.internal/debit?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent: `00-${TRACE_ID}-${CALL_SPAN}-01` },
    body: '{}',
  })
}

describe('a handler of a service', () => {
  it('It runs within the trace of its call, where the framework has no span', async () => {
    let seen: SpanContext | undefined
    const handle = fetchHandler(openBank(), () => {
      seen = trace.getSpanContext(context.active())
      trace.getTracer('bank').startSpan('look up').end()
    })
    expect((await handle(buildCall('action'))).status).toBe(200)
    expect(seen).toMatchObject({ traceId: TRACE_ID })
    expect(
      exporter.getFinishedSpans().map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId]),
    ).toEqual([
      ['look up', seen?.spanId],
      ['branch call', CALL_SPAN],
    ])
    const [, call] = exporter.getFinishedSpans()
    expect(call?.events.map(({ name }) => name)).toEqual(['counterstep.barrier'])
    exporter.reset()
  })

  it('What the barrier has decided is an event of the span in force', async () => {
    const handle = fetchHandler(openBank(), () => undefined)
    const span = trace.getTracer('bank').startSpan('POST /debit')
    await context.with(trace.setSpan(context.active(), span), async () => {
      for (const op of ['compensate', 'compensate', 'action'] as const) await handle(buildCall(op))
    })
    span.end()
    const events = exporter.getFinishedSpans().flatMap((each) => each.events)
    expect(events.map(({ name, attributes }) => [name, attributes?.['counterstep.decision']])).toEqual([
      ['counterstep.barrier', 'null-compensation'],
      ['counterstep.barrier', 'duplicate'],
      ['counterstep.barrier', 'already-compensated'],
    ])
    expect(events[0]?.attributes).toMatchObject({
      'counterstep.gid': 'order-1',
      'counterstep.branch': 'debit',
      'counterstep.op': 'compensate',
    })
    exporter.reset()
  })

  it('A local step of a workflow notes its decision, too', async () => {
    const reserve = step('reserve', { do: () => ({ id: 1 }), undo: () => undefined })
    const call = { gid: 'order-2', branchId: '1', op: 'action' } as const
    const span = trace.getTracer('bank').startSpan('POST /workflows')
    await context.with(trace.setSpan(context.active(), span), () =>
      runStep(openBank() as never, { step: reserve as never, version: 1, call, input: undefined }),
    )
    span.end()
    const events = exporter.getFinishedSpans().flatMap((each) => each.events)
    expect(events.map(({ attributes }) => attributes?.['counterstep.decision'])).toEqual(['run'])
    exporter.reset()
  })
})

describe('a client', () => {
  it('It sends the trace in force, and nothing outside of one', async () => {
    const headers: IncomingHttpHeaders[] = []
    const server = createServer((request, response) => {
      headers.push(request.headers)
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    const span = trace.getTracer('shop').startSpan('order')
    const ask = () => client.get('order-1').catch(() => undefined)
    await context.with(trace.setSpan(context.active(), span), ask)
    await ask()
    server.close()
    const { traceId, spanId } = span.spanContext()
    expect(headers.map(({ traceparent }) => traceparent)).toEqual([`00-${traceId}-${spanId}-01`, undefined])
  })
})
