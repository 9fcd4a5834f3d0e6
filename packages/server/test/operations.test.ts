import type { StoreEvent } from '@counterstep/core'
import { type EngineEvent, logEvents } from '@counterstep/engine'
import { describe, expect, it } from 'vitest'
import { buildApp, countStoreEvents, createPrometheusObserver, createRegistry } from '../src/index.ts'
import { createScriptedEngine, READY } from './scripted-engine.ts'

const STATS = {
  now: 10_000,
  unfinished: { prepared: 0, submitted: 7, aborting: 2 },
  oldestDueAt: 4_000,
  attention: 1,
  paused: 0,
  byHand: 0,
  problems: [],
}

describe('health', () => {
  it('A node is live without asking the engine', async () => {
    const answer = await buildApp({ engine: createScriptedEngine() }).inject({ url: '/health/live' })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ status: 'live' })
  })

  it('A node is ready, and shows the store and its class', async () => {
    const answer = await buildApp({ engine: createScriptedEngine() }).inject({ url: '/health/ready' })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      status: 'ready',
      store: { ...READY.store, forced: false },
      inFlight: 3,
      inFlightMax: 4096,
      insecure: [],
    })
  })

  it('Readiness says that the store was forced', async () => {
    const app = buildApp({ engine: createScriptedEngine(), storeForced: true })
    const answer = await app.inject({ url: '/health/ready' })
    expect(answer.json()).toMatchObject({ store: { name: 'memory', forced: true } })
  })

  const reasons = [
    ['stopping', 'SAGA_STOPPING'],
    ['store-unavailable', 'SAGA_STORE_UNAVAILABLE'],
  ] as const
  for (const [reason, code] of reasons) {
    it(`Readiness is a 503 problem when ${reason}, with the same members`, async () => {
      const engine = createScriptedEngine({ health: () => ({ ...READY, ready: false, reason }) })
      const answer = await buildApp({ engine }).inject({ url: '/health/ready' })
      expect(answer.statusCode).toBe(503)
      expect(answer.headers['retry-after']).toBe('1')
      expect(answer.headers['content-type']).toMatch('application/problem+json')
      expect(answer.json()).toMatchObject({ code, status: 503, reason, store: READY.store, inFlight: 3 })
    })
  }
})

describe('GET /', () => {
  it('The root says what this is, and links to pages that exist', async () => {
    const app = buildApp({ engine: createScriptedEngine(), version: '1.2.3' })
    const answer = await app.inject({ url: '/' })
    expect(answer.statusCode).toBe(200)
    const { links, ...rest } = answer.json()
    expect(rest).toEqual({ name: 'counterstep', version: '1.2.3' })
    expect(Object.values(links)).toEqual(['/docs', '/openapi.json', '/health/ready'])
    for (const url of Object.values<string>(links)) {
      expect((await app.inject({ url })).statusCode).toBe(200)
    }
  })
})

describe('GET /metrics', () => {
  it('The metrics are written once for all who ask meanwhile, and anew for the next', async () => {
    const registry = createRegistry()
    const { metrics } = registry
    let written = 0
    let release: () => void = () => undefined
    registry.metrics = async () => {
      written += 1
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return metrics.call(registry)
    }
    const app = buildApp({ engine: createScriptedEngine(), registry })
    let asked = 0
    app.addHook('preHandler', async () => {
      asked += 1
    })
    const ask = () => app.inject({ url: '/metrics' })
    const answers = [ask(), ask(), ask()]
    await expect.poll(() => asked).toBe(3)
    release()
    for (const { statusCode, body } of await Promise.all(answers))
      expect([statusCode, body.includes('counterstep_ready')]).toEqual([200, true])
    expect(written).toBe(1)
    const next = ask()
    await expect.poll(() => written).toBe(2)
    release()
    expect((await next).statusCode).toBe(200)
  })

  it('The metrics show the engine, the store, the process and the answers, by route and not by path', async () => {
    const registry = createRegistry()
    const observer = createPrometheusObserver(registry)
    observer.accepted('saga', 'transfer')
    observer.refused('SAGA_OVER_CAPACITY')
    observer.finished('saga', 'succeeded', 20, 'transfer')
    observer.branchCalled('action', 'success', 7, 'bank', 200)
    observer.storeCalled('create', 'ok', 2)
    observer.claimed(3)
    const app = buildApp({ engine: createScriptedEngine({ readStats: async () => STATS }), registry })
    for (const gid of ['a', 'b', 'c']) await app.inject({ url: `/v1/transactions/${gid}` })
    const answer = await app.inject({ url: '/metrics' })
    expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    const lines = answer.body.split('\n')
    for (const line of [
      'counterstep_transactions_accepted_total{kind="saga"} 1',
      'counterstep_transactions_refused_total{code="SAGA_OVER_CAPACITY"} 1',
      'counterstep_transaction_duration_seconds_count{kind="saga",status="succeeded"} 1',
      'counterstep_branch_call_duration_seconds_sum{op="action",result="success"} 0.007',
      'counterstep_service_calls_total{service="bank",op="action",result="success"} 1',
      'counterstep_store_call_duration_seconds_count{verb="create",outcome="ok"} 1',
      'counterstep_transactions_claimed_total 3',
      'counterstep_transactions_in_flight 3',
      'counterstep_ready 1',
      'counterstep_store_unfinished{status="submitted"} 7',
      'counterstep_store_attention 1',
      'counterstep_store_oldest_due_age_seconds 6',
      'counterstep_store_stats_up 1',
      'counterstep_http_answers_total{method="GET",route="/v1/transactions/:gid",status="200"} 3',
    ])
      expect(lines).toContain(line)
    expect(answer.body).toContain('process_cpu_user_seconds_total')
  })

  it('The metrics go on without the figures of a store that does not answer', async () => {
    const readStats = async () => undefined
    const answer = await buildApp({ engine: createScriptedEngine({ readStats }) }).inject({ url: '/metrics' })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toContain('counterstep_store_stats_up 0')
    expect(answer.body).not.toMatch(/^counterstep_store_(unfinished|attention|oldest)\w*(\{.*)? /m)
  })

  it('The names of events are bounded, and each event is passed on to the log', async () => {
    const registry = createRegistry()
    const lines: unknown[] = []
    const note = (fields: object, message: string) => void lines.push({ ...fields, message })
    const observer = createPrometheusObserver(registry, logEvents({ info: note, warn: note, error: note }))
    for (let index = 0; index < 200; index += 1) {
      const unlisted: string = `event-${index}`
      observer.event({ level: 'warn', name: unlisted as EngineEvent['name'] })
    }
    const text = await registry.getSingleMetricAsString('counterstep_engine_events_total')
    expect(text.split('\n').filter((line) => line.startsWith('counterstep'))).toHaveLength(101)
    expect(text).toContain('{level="warn",event="other"} 100')
    expect(lines).toHaveLength(200)
    expect(lines[0]).toEqual({ event: 'event-0', message: 'event-0' })
  })
  it('The events of the store are counted by at most 50 names, and each is passed on to the log', async () => {
    const registry = createRegistry()
    const lines: unknown[] = []
    const note = (fields: object, message: string) => void lines.push({ ...fields, message })
    const onEvent = countStoreEvents(registry, logEvents({ info: note, warn: note, error: note }))
    for (let index = 0; index < 60; index += 1) {
      const unlisted: string = `store-event-${index}`
      onEvent({ level: 'warn', name: unlisted as StoreEvent['name'], detail: 'why' })
    }
    const text = await registry.getSingleMetricAsString('counterstep_store_events_total')
    const counted = text.split('\n').filter((line) => line.startsWith('counterstep'))
    expect(counted).toHaveLength(51)
    expect(counted).toContain('counterstep_store_events_total{name="store-event-0"} 1')
    expect(counted).toContain('counterstep_store_events_total{name="other"} 10')
    expect(lines).toHaveLength(60)
    expect(lines[0]).toEqual({ event: 'store-event-0', detail: 'why', message: 'store-event-0' })
  })
})
