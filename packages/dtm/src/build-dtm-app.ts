import {
  answerClientErrors,
  ConnectionBounds,
  type ConnectionLimits,
  createGate,
  DEFAULT_CONNECTION_LIMITS,
  endConnectionsWhileStopping,
  endIdleConnectionsWhileClosing,
  type Gate,
  guardRoutes,
  readBearerOrBasicKey,
  readQuery,
  toConnectionOptions,
  WITHOUT_SCHEMAS,
} from '@counterstep/access'
import { nodeClock, ReadLimiter } from '@counterstep/engine'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { type FastifyInstance, fastify } from 'fastify'
import { createDialect, type Dialect, type DialectDeps } from './dialect.ts'
import type { DialectMetrics } from './metrics/dialect-metrics.ts'
import { addAdminPageRoutes } from './routes/admin-page.ts'
import { createErrorHandler, type ReportError } from './routes/handle-error.ts'
import { addJsonRpcRoute } from './routes/json-rpc.ts'
import { addKeyValueRoutes } from './routes/key-values.ts'
import { addNewGidRoute } from './routes/new-gid.ts'
import { addOperationRoutes } from './routes/operations.ts'
import { addPrepareWorkflowRoute } from './routes/prepare-workflow.ts'
import { addQueryRoutes } from './routes/queries.ts'
import { addRegisterBranchRoutes } from './routes/register-branch.ts'
import { addResetCronTimeRoute } from './routes/reset-cron-time.ts'
import { takeBodiesAsText } from './routes/take-body.ts'
import { addTopicRoutes } from './routes/topics.ts'
import { addCommandRoutes } from './routes/transaction-commands.ts'
import { answerUnknownRoutes } from './routes/unknown-route.ts'
import { LISTS_AT_ONCE_MAX } from './view/list-page.ts'
import { answerError, JSON_TYPE } from './wire/answer.ts'

export interface DtmAppDeps extends DialectDeps {
  /** DTM's gRPC API shares it, where there is one. By default it is made of the rest. */
  readonly dialect?: Dialect
  /** All HTTP APIs of a process share these bounds. By default the app has bounds of its own, made from `limits`. */
  readonly bounds?: ConnectionBounds
  /** It decides who may do what. By default every caller may do everything, except a browser's page of another origin. */
  readonly gate?: Gate
  /** It returns the node's own metrics in Prometheus' text format. They follow the dialect's. By default there are none. */
  readonly nodeMetrics?: () => Promise<string>
  /** It gets the errors that are bugs or have no code. By default they are dropped. */
  readonly onError?: ReportError
  /** It returns the port of the console, once it is known. Absent: there is none. */
  readonly findConsolePort?: () => number | undefined
  /** The app tells clients that it is this version of DTM. By default it is the one that the dialect was compared with. */
  readonly version?: string
  readonly limits?: Partial<ConnectionLimits>
}

export const DTM_VERSION = 'v1.19.0'

const TOPIC_LENGTH_MAX = 1_024

/** One answer of `all` may read a thousand rows from the store, so only a few such answers are under way at once. */
const LIST_READS = {
  atOnceMax: LISTS_AT_ONCE_MAX,
  waitingMax: 4_096,
  waitMs: 2_000,
  restFactor: 1,
  restMsMax: 500,
}

const answerClientError = answerClientErrors(({ status, detail }) => ({
  contentType: JSON_TYPE,
  body: answerError(detail, status).body,
}))

/** Builds DTM's HTTP API as a fastify app that does not listen yet. */
export function buildDtmApp(deps: DtmAppDeps): FastifyInstance {
  const { engine, nodeMetrics = async () => '', onError = () => undefined } = deps
  const { commands, topics: topicList, metrics } = deps.dialect ?? createDialect(deps)
  const limits = { ...DEFAULT_CONNECTION_LIMITS, ...deps.limits }
  const bounds = deps.bounds ?? new ConnectionBounds(limits)
  const app = createApp(createErrorHandler(onError), limits, bounds)
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
    addCommandRoutes(routes, commands, gate, metrics)
    addRegisterBranchRoutes(routes, commands)
    addQueryRoutes(routes, engine, new ReadLimiter(nodeClock(), LIST_READS))
    addResetCronTimeRoute(routes, engine)
    addTopicRoutes(routes, topicList)
    addKeyValueRoutes(routes, topicList)
    addNewGidRoute(routes)
    addJsonRpcRoute(routes, { commands, gate, metrics, report: onError })
    addOperationRoutes(routes, { metrics, version: deps.version ?? DTM_VERSION, nodeMetrics })
    addPrepareWorkflowRoute(routes, commands, gate)
    if (deps.findConsolePort !== undefined) addAdminPageRoutes(routes, deps.findConsolePort)
  })
  return app
}

function createApp(
  handleError: ReturnType<typeof createErrorHandler>,
  limits: ConnectionLimits,
  bounds: ConnectionBounds,
): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    ...toConnectionOptions(limits),
    schemaController: WITHOUT_SCHEMAS,
    routerOptions: { maxParamLength: TOPIC_LENGTH_MAX, querystringParser: readQuery },
    clientErrorHandler: answerClientError,
    frameworkErrors: bounds.refuseAfterFrameworkErrors(handleError),
  })
  app.setErrorHandler(handleError)
  return app
}

/**
 * Counts answers by the route's name, as DTM labels them. An unknown path is not counted: a caller could make up any
 * number of them, and each would be a metric of its own.
 */
function countAnswers(app: FastifyInstance, metrics: DialectMetrics): void {
  app.addHook('onResponse', function countAnswer(request, reply, done) {
    const route = request.routeOptions.url
    if (route?.startsWith('/api/dtmsvr/') === true) {
      const api = route.split('/')[3] ?? ''
      metrics.countAnswer(api.toLowerCase(), reply.statusCode < 400, reply.elapsedTime / 1_000)
    }
    done()
  })
}
