import { targetPolicy } from '@counterstep/branch-http/targets'
import type { BranchAnswer, BranchCall, BranchCaller, CheckUrl, Store } from '@counterstep/core'
import {
  createEngine,
  DEFAULT_SETTINGS,
  type Engine,
  type EngineSettings,
  logEvents,
  nodeClock,
  nodeIds,
} from '@counterstep/engine'
import { memoryStore } from '@counterstep/store-conformance'
import { canary } from '@counterstep/test-servers/canary'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import type { FastifyInstance } from 'fastify'
import { buildApp, createLogger, createPrometheusObserver, createRegistry } from '../src/index.ts'

export interface RealServer extends AsyncDisposable {
  readonly app: FastifyInstance
  readonly engine: Engine
  readonly calls: readonly BranchCall[]
}

/** A stream ends soon, since `inject` waits for its end. */
export const LIVE = { tickMs: 20, ageMsMax: 100 }

const anywhere = targetPolicy({ services: [], allowed: [], others: 'any', isLocal: true })
const checkAnywhere: CheckUrl = (url) => anywhere.check(url)

interface ServerParts {
  /** The server closes it. */
  readonly store?: Store
  readonly settings?: Partial<EngineSettings>
  readonly plainIds?: boolean
}

/**
 * Builds a server on the real engine and the reference store, or another one. The test answers the calls of branches, unless
 * it makes them.
 */
export async function buildRealServer(
  play: (call: BranchCall) => BranchAnswer | Promise<BranchAnswer>,
  checkUrl: CheckUrl = checkAnywhere,
  { store = memoryStore(), settings: given = {}, plainIds = false }: ServerParts = {},
): Promise<RealServer> {
  const calls: BranchCall[] = []
  const branches: BranchCaller = {
    async call(call) {
      calls.push(call)
      return play(call)
    },
    close: async () => undefined,
  }
  const registry = createRegistry()
  const watch = new SecretWatch()
  const destination = { write: (line: string) => watch.hear('the log', line) }
  const logger = createLogger({ level: 'debug', destination })
  const observer = createPrometheusObserver(registry, logEvents(logger))
  const settings = { ...DEFAULT_SETTINGS, ...given }
  const clock = nodeClock()
  const engine = createEngine({
    ...{ store, branches, checkUrl, plainIds, clock, observer, settings },
    ids: nodeIds(),
  })
  await engine.start()
  const app = buildApp({ engine, registry, logger, logRequests: true, live: LIVE })
  hearAnswers(app, watch)
  return {
    app,
    engine,
    calls,
    async [Symbol.asyncDispose]() {
      await app.close()
      await engine.close(1_000)
      await store.close()
      watch.assertNone()
    },
  }
}

/** Adds values to each request that no answer may show again, and collects the answers. */
function hearAnswers(app: FastifyInstance, watch: SecretWatch): void {
  app.addHook('onRequest', async ({ headers }) => {
    headers.cookie = canary('cookie')
    headers['x-secret'] = canary('header-of-request')
  })
  app.addHook('onSend', async (request, reply, payload) => {
    // This route shows requests as they are, to keys with a scope of their own.
    if (request.routeOptions.url === '/v1/transactions/:gid/request') return
    watch.hear(`the answer to ${request.url}`, JSON.stringify(reply.getHeaders()) + String(payload))
  })
}
