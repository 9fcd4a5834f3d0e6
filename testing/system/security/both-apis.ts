import {
  ConnectionBounds,
  type ConnectionLimits,
  createGate,
  DEFAULT_CONNECTION_LIMITS,
  type KeyFinder,
  type ReachedBound,
  readBearerOrBasicKey,
} from '@counterstep/access'
import { loopbackTargets } from '@counterstep/branch-http/targets'
import type { BranchAnswer, BranchCall, Store } from '@counterstep/core'
import { buildDtmApp, createDocumentTopicStore } from '@counterstep/dtm'
import {
  createEngine,
  DEFAULT_SETTINGS,
  type Engine,
  type EngineSettings,
  logEvents,
  nodeClock,
  nodeIds,
} from '@counterstep/engine'
import {
  buildApp,
  createLogger,
  createPrometheusObserver,
  createRegistry,
  readMetrics,
} from '@counterstep/server'
import type { FastifyInstance } from 'fastify'

export interface ApiRequest {
  readonly api: 'native' | 'dtm'
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface ApiAnswer {
  readonly status: number
  readonly body: string
  readonly retryAfter: string | undefined
}

export interface BothApis extends AsyncDisposable {
  readonly native: FastifyInstance
  readonly dtm: FastifyInstance
  readonly engine: Engine
  /** The bounds that both share. */
  readonly bounds: ConnectionBounds
  /** Bounds that were reached, in their order. */
  readonly reached: readonly ReachedBound[]
  /** Calls of branches. */
  readonly calls: readonly BranchCall[]
  /** Every line that was logged. */
  readonly lines: readonly string[]
  send(request: ApiRequest): Promise<ApiAnswer>
}

const CLOSE_MS = 2_000
const SUCCESS: BranchAnswer = { result: 'success', statusCode: 200 }

export interface BothApisOptions {
  readonly limits?: Partial<ConnectionLimits>
  readonly settings?: Partial<EngineSettings>
  readonly keys?: KeyFinder
  /** Answers the calls of branches; success by default. */
  readonly answer?: () => Promise<BranchAnswer>
}

/** Both HTTP APIs on one engine over the given store, which stays the caller's to close. */
export async function openBothApis(store: Store, options: BothApisOptions = {}): Promise<BothApis> {
  const { limits = {}, settings = {}, keys, answer = async () => SUCCESS } = options
  const calls: BranchCall[] = []
  const lines: string[] = []
  const logger = createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } })
  const registry = createRegistry()
  const ids = nodeIds()
  const targets = loopbackTargets()
  const checkUrl = (url: string) => targets.check(url)
  const engine = createEngine({
    store,
    branches: {
      async call(call) {
        calls.push(call)
        return await answer()
      },
      close: async () => undefined,
    },
    clock: nodeClock(),
    ids,
    observer: createPrometheusObserver(registry, logEvents(logger)),
    checkUrl,
    settings: { ...DEFAULT_SETTINGS, ...settings },
  })
  await engine.start()
  const reached: ReachedBound[] = []
  const bounds = new ConnectionBounds({ ...DEFAULT_CONNECTION_LIMITS, ...limits }, (bound) =>
    reached.push(bound),
  )
  const gate = createGate({ credentials: readBearerOrBasicKey, ...(keys === undefined ? {} : { keys }) })
  const native = buildApp({ engine, registry, logger, gate, bounds, limits })
  const dtm = buildDtmApp({
    engine,
    checkUrl,
    topics: createDocumentTopicStore(store, () => ids.writeId()),
    nodeMetrics: () => readMetrics(registry),
    onError: (error) => logger.error({ err: error }, 'request failed'),
    gate,
    bounds,
    limits,
  })
  return {
    native,
    dtm,
    engine,
    bounds,
    reached,
    calls,
    lines,
    async send({ api, method, url, headers = {}, body }) {
      const app = api === 'native' ? native : dtm
      const given =
        body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const answer = await app.inject({ method, url, headers: { ...type, ...headers }, ...given })
      return { status: answer.statusCode, body: answer.body, retryAfter: answer.headers['retry-after'] }
    },
    async [Symbol.asyncDispose]() {
      await native.close()
      await dtm.close()
      await engine.close(CLOSE_MS)
    },
  }
}
