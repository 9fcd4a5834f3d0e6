import { bearerKey, createGate, type Gate, guardRoutes } from '@counterstep/access'
import type { Store } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { type FastifyInstance, fastify } from 'fastify'
import { errorHandler } from './error-handler.ts'
import { answerClientError } from './http/client-error.ts'
import { endConnectionsWhileStopping, refuseWhileClosing } from './http/closing.ts'
import { answerUnknownRoutes } from './http/unknown-route.ts'
import { logAnswer } from './log-answer.ts'
import { type Logger, silentLogger } from './logger.ts'
import { registerEngineGauges, registerStoreGauges } from './metrics/engine-gauges.ts'
import { countAnswers } from './metrics/http-metrics.ts'
import { createRegistry, type Registry } from './metrics/registry.ts'
import { openApiDocument } from './openapi/document.ts'
import { OPERATIONS } from './operations.ts'
import { abortRoute } from './routes/abort.ts'
import { docsRoute } from './routes/docs.ts'
import { getTransactionRoute } from './routes/get-transaction.ts'
import { listTransactionsRoute } from './routes/list-transactions.ts'
import { liveRoute } from './routes/live.ts'
import { metricsRoute } from './routes/metrics.ts'
import { openApiRoute } from './routes/open-api.ts'
import { readyRoute } from './routes/ready.ts'
import { registerBranchRoute } from './routes/register-branch.ts'
import { retryRoute } from './routes/retry.ts'
import { rootRoute } from './routes/root.ts'
import { stopRoute } from './routes/stop.ts'
import { submitRoute } from './routes/submit.ts'
import { submitPreparedRoute } from './routes/submit-prepared.ts'
import { DEFAULT_SERVER_LIMITS, PARAM_LENGTH_MAX, type ServerLimits } from './server-limits.ts'

export interface AppDeps {
  readonly engine: EngineApi
  /** For the gauges of the store; without one they are left out. */
  readonly store?: Pick<Store, 'stats'>
  /** The store was opened by a switch that forces what is refused otherwise; /health/ready shows it. Default: no. */
  readonly storeForced?: boolean
  /** Protections that were switched off by name; /health/ready lists them. Default: none. */
  readonly insecure?: readonly string[]
  /** Who may do what. Default: everybody, but no page of another origin. */
  readonly gate?: Gate
  /** The one that `prometheusObserver` writes to. Default: a fresh one. */
  readonly registry?: Registry
  /** Default: silent. */
  readonly logger?: Logger
  /** One line for each answer. Default: only errors are logged. */
  readonly logRequests?: boolean
  readonly limits?: Partial<ServerLimits>
  /** Shown in the OpenAPI document. */
  readonly version?: string
}

/** The native face as a fastify app that has not listened. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const limits = { ...DEFAULT_SERVER_LIMITS, ...deps.limits }
  const logger = deps.logger ?? silentLogger
  const registry = deps.registry ?? createRegistry()
  const gate = deps.gate ?? createGate({ credentials: bearerKey })
  const app = createApp(limits, logger)
  refuseWhileClosing(app)
  endConnectionsWhileStopping(app, deps.engine)
  answerUnknownRoutes(app)
  countAnswers(app, registry)
  guardRoutes(app, gate)
  if (deps.logRequests === true) app.addHook('onResponse', logAnswer(logger))
  registerEngineGauges(registry, deps.engine)
  if (deps.store !== undefined) registerStoreGauges(registry, deps.store)
  registerRoutes(app, { ...deps, gate }, limits, registry)
  return app
}

function createApp(limits: ServerLimits, logger: Logger): FastifyInstance {
  const handleError = errorHandler(logger)
  const app = fastify({
    // Fastify's logger would make a child for each request; ours is asked only for what is logged.
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxRequestsPerSocket: limits.requestsPerSocketMax,
    // Node swaps the two when the first is the longer, so requestTimeout alone would bound only the headers.
    http: {
      headersTimeout: limits.requestTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.connectionsCheckMs,
    },
    forceCloseConnections: 'idle',
    // Its answer is not a problem; refuseWhileClosing gives ours.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    clientErrorHandler: answerClientError,
    frameworkErrors: handleError,
  })
  app.setErrorHandler(handleError)
  app.removeAllContentTypeParsers()
  return app
}

function registerRoutes(
  app: FastifyInstance,
  { engine, gate, storeForced = false, insecure = [], version = '0.1.0' }: AppDeps & { readonly gate: Gate },
  { handlerTimeoutMs }: ServerLimits,
  registry: Registry,
): void {
  const document = openApiDocument(OPERATIONS, version)
  app.register(submitRoute(engine))
  app.register(getTransactionRoute(engine, handlerTimeoutMs))
  app.register(listTransactionsRoute(engine, handlerTimeoutMs))
  app.register(registerBranchRoute(engine, handlerTimeoutMs))
  app.register(submitPreparedRoute(engine))
  app.register(abortRoute(engine))
  app.register(retryRoute(engine, handlerTimeoutMs))
  app.register(stopRoute(engine, handlerTimeoutMs))
  app.register(rootRoute(version))
  app.register(liveRoute)
  app.register(readyRoute(engine, gate, { storeForced, insecure }))
  app.register(metricsRoute(registry, handlerTimeoutMs))
  app.register(openApiRoute(document))
  app.register(docsRoute(document))
}
