import {
  ConnectionBounds,
  type ConnectionLimits,
  createGate,
  DEFAULT_CONNECTION_LIMITS,
  endConnectionsWhileStopping,
  endIdleConnectionsWhileClosing,
  type Gate,
  guardRoutes,
  readBearerOrBasicKey,
  toConnectionOptions,
  WITHOUT_SCHEMAS,
} from '@counterstep/access'
import type { CheckUrl } from '@counterstep/core'
import { type EngineApi, nodeClock, ReadLane } from '@counterstep/engine'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { type FastifyInstance, fastify } from 'fastify'
import { DialectMetrics } from './metrics/dialect-metrics.ts'
import { takeBodiesAsText } from './routes/body-of.ts'
import { answerClientError } from './routes/client-error.ts'
import { errorHandler, type ReportError } from './routes/handle-error.ts'
import { newGidRoute } from './routes/new-gid.ts'
import { routesNotThereYet } from './routes/not-there-yet.ts'
import { operationRoutes } from './routes/operations.ts'
import { queryRoutes } from './routes/queries.ts'
import { registerBranchRoutes } from './routes/register-branch.ts'
import { resetCronTimeRoute } from './routes/reset-cron-time.ts'
import { topicRoutes } from './routes/topics.ts'
import { transactionCommands } from './routes/transaction-commands.ts'
import { answerUnknownRoutes } from './routes/unknown-route.ts'
import type { TopicStore } from './topics/topic-store.ts'
import { Topics } from './topics/topics.ts'
import { LISTS_AT_ONCE_MAX } from './view/list-page.ts'

export interface DtmAppDeps {
  readonly engine: EngineApi
  readonly topics: TopicStore
  /** Whether a branch may be called there; asked before anything is stored. */
  readonly checkUrl: CheckUrl
  /**
   * The setting that the engine was given. When it is true, the engine refuses branch ids with a `-`. Default: false.
   */
  readonly plainIds?: boolean
  /** Shared by all HTTP APIs of a process. Default: bounds of its own, by the limits. */
  readonly bounds?: ConnectionBounds
  /** Decides who may do what. Default: every caller may do everything, but no page of another origin may. */
  readonly gate?: Gate
  /** The node's own metrics in Prometheus' text format; shown behind the dialect's. Default: none. */
  readonly nodeMetrics?: () => Promise<string>
  /** Is told of errors that are bugs or have no name. Default: they are dropped. */
  readonly onError?: ReportError
  /** The version of DTM that clients believe to speak to. Default: the one that the dialect was compared with. */
  readonly version?: string
  readonly limits?: Partial<ConnectionLimits>
}

export const DTM_VERSION = 'v1.19.0'

const TOPIC_LENGTH_MAX = 1_024

/** One client of `all` may be answered with a thousand rows, each of which is read; so few of these are under way at once. */
const LISTS = {
  atOnceMax: LISTS_AT_ONCE_MAX,
  waitingMax: 4_096,
  waitMs: 2_000,
  restFactor: 1,
  restMsMax: 500,
}

/** DTM's HTTP face as a fastify app that has not listened. */
export function buildDtmApp(deps: DtmAppDeps): FastifyInstance {
  const { engine, topics, checkUrl, nodeMetrics = async () => '', onError = () => undefined } = deps
  const metrics = new DialectMetrics()
  const list = new Topics(topics, checkUrl, () => performance.now())
  const { plainIds = false } = deps
  const commands = { engine, checkUrl, plainIds, subscribersOf: (topic: string) => list.subscribersOf(topic) }
  const limits = { ...DEFAULT_CONNECTION_LIMITS, ...deps.limits }
  const bounds = deps.bounds ?? new ConnectionBounds(limits)
  const app = createApp(errorHandler(onError), limits, bounds)
  bounds.boundConnections(app.server)
  bounds.boundRequests(app)
  endConnectionsWhileStopping(app, engine)
  endIdleConnectionsWhileClosing(app)
  takeBodiesAsText(app)
  answerUnknownRoutes(app)
  countAnswers(app, metrics)
  const gate = deps.gate ?? createGate({ credentials: readBearerOrBasicKey })
  guardRoutes(app, gate, bounds)
  app.register(async function dtmRoutes(routes) {
    transactionCommands(routes, commands, gate, metrics)
    registerBranchRoutes(routes, commands)
    queryRoutes(routes, engine, new ReadLane(nodeClock(), LISTS))
    resetCronTimeRoute(routes, engine)
    topicRoutes(routes, list)
    newGidRoute(routes)
    operationRoutes(routes, { metrics, version: deps.version ?? DTM_VERSION, nodeMetrics })
    routesNotThereYet(routes)
  })
  return app
}

function createApp(
  handleError: ReturnType<typeof errorHandler>,
  limits: ConnectionLimits,
  bounds: ConnectionBounds,
): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    ...toConnectionOptions(limits),
    schemaController: WITHOUT_SCHEMAS,
    routerOptions: { maxParamLength: TOPIC_LENGTH_MAX },
    clientErrorHandler: answerClientError,
    frameworkErrors: bounds.refuseAfterFrameworkErrors(handleError),
  })
  app.setErrorHandler(handleError)
  return app
}

/**
 * Counts answers by the route's name, as DTM labels them. Other paths are not counted, since a caller can make those
 * up.
 */
function countAnswers(app: FastifyInstance, metrics: DialectMetrics): void {
  app.addHook('onResponse', function countAnswer(request, reply, done) {
    const route = request.routeOptions.url
    if (route?.startsWith('/api/dtmsvr/') === true) {
      const api = route.split('/')[3] ?? ''
      metrics.answered(api.toLowerCase(), reply.statusCode < 400, reply.elapsedTime / 1_000)
    }
    done()
  })
}
