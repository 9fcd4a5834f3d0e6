import {
  type ConnectionBounds,
  endConnectionsWhileStopping,
  type Gate,
  guardRoutes,
  type Sessions,
} from '@counterstep/access'
import type { EngineApi, Logger } from '@counterstep/engine'
import { WAIT_MS_MAX } from '@counterstep/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { buildConsoleRoutes, CONSOLE_ROUTES, type ConsoleDirectory } from './console/console-routes.ts'
import {
  buildEndSessionRoute,
  buildGetSessionRoute,
  buildOpenSessionRoute,
} from './console/session-routes.ts'
import type { Breaks } from './dev/breaks.ts'
import { buildDevRoutes } from './dev/dev-routes.ts'
import { buildErrorHandler } from './error-handler.ts'
import { keepSessionsFromCaches } from './http/keep-from-caches.ts'
import { tellTime } from './http/tell-time.ts'
import { answerUnknownRoutes } from './http/unknown-route.ts'
import { DEFAULT_LIVE_LIMITS, type LiveLimits } from './live/live-streams.ts'
import { makeOnce } from './make-once.ts'
import { registerEngineGauges, registerStoreGauges } from './metrics/engine-gauges.ts'
import { countAnswers } from './metrics/http-metrics.ts'
import { assertOwnMetricsAreWritten } from './metrics/registered-metric.ts'
import { type Registry, readMetrics } from './metrics/registry.ts'
import type { DocumentedApi } from './openapi/document.ts'
import type { JsonObject, Operation } from './openapi/operation.ts'
import {
  BULK_OPERATIONS,
  CONSOLE_OPERATIONS,
  DEV_OPERATIONS,
  OPERATIONS,
  VIEW_OPERATIONS,
} from './operations.ts'
import type { Panel } from './panels/panel.ts'
import { buildAbortRoute } from './routes/abort.ts'
import { buildBulkRoutes } from './routes/bulk/add-bulk-routes.ts'
import { buildDocsRoute, docsOperation } from './routes/docs.ts'
import { buildEditOpRoute } from './routes/edit-op.ts'
import { buildGetTransactionRoute } from './routes/get-transaction.ts'
import { buildListTransactionsRoute } from './routes/list-transactions.ts'
import { addLiveRoute } from './routes/live.ts'
import { buildLiveStreamRoute } from './routes/live-stream.ts'
import { buildMetricsRoute } from './routes/metrics.ts'
import { buildNamesRoute } from './routes/names.ts'
import { buildOpenApiRoute } from './routes/open-api.ts'
import { buildOverviewRoute } from './routes/overview.ts'
import { buildPanelRoutes } from './routes/panels.ts'
import { buildPauseRoute } from './routes/pause.ts'
import { buildPreviewRoute } from './routes/preview.ts'
import { buildProblemsRoute } from './routes/problems.ts'
import { buildReadyRoute } from './routes/ready.ts'
import { buildRegisterBranchRoute } from './routes/register-branch.ts'
import { buildResumeRoute } from './routes/resume.ts'
import { buildRetryRoute } from './routes/retry.ts'
import { buildRetryOpRoute } from './routes/retry-op.ts'
import { buildRootRoute } from './routes/root.ts'
import { buildServicesRoute } from './routes/services.ts'
import { buildShowRequestRoute } from './routes/show-request.ts'
import { buildSignalRoute } from './routes/signal.ts'
import { buildSkipOpRoute } from './routes/skip-op.ts'
import { buildStopRoute } from './routes/stop.ts'
import { buildSubmitRoute } from './routes/submit.ts'
import { buildSubmitPreparedRoute } from './routes/submit-prepared.ts'
import { buildViewRoutes } from './routes/views/add-view-routes.ts'

export interface NativeApiDeps {
  readonly engine: EngineApi
  /** It is true if the store was opened by a switch that forces what is otherwise refused. /health/ready shows it. */
  readonly storeForced?: boolean
  /** These protections were switched off by name. /health/ready lists them. */
  readonly insecure?: readonly string[]
  /** Bounds all connections of this process together. */
  readonly bounds: ConnectionBounds
  /** Decides who may do what. */
  readonly gate: Gate
  /** `createPrometheusObserver` has to write to the same registry. */
  readonly registry: Registry
  /** Reads what /metrics answers. By default that is the registry, and several processes add up theirs. */
  readonly readMetrics?: () => Promise<string>
  readonly logger: Logger
  /** If it is true, each answer is logged with one line. By default only errors are logged. */
  readonly logRequests?: boolean
  /** The OpenAPI document shows this version. */
  readonly version: string
  /** If it is `docs`, there is a page under /docs. */
  readonly page: 'docs' | 'none'
  /** The console is under /console if this is given. */
  readonly console?: ConsoleDeps
  /** Tables of what the host has beside transactions. The default is none. */
  readonly panels?: readonly Panel[]
  /** Only `counterstep dev` gives it: callers may break the calls of branches on purpose. */
  readonly breaks?: Breaks
  /** A `Prefer: wait` that asks for longer is cut to this. The default is 60 s. */
  readonly waitMsMax?: number
  /** The bounds of the streams of changes. */
  readonly live?: Partial<LiveLimits>
  /** A handler must answer within this time, unless it may wait for the end of a transaction. */
  readonly handlerTimeoutMs: number
}

export interface ConsoleDeps {
  readonly directory: ConsoleDirectory
  /** The gate has to have the same. They are absent where no keys are asked for. */
  readonly sessions?: Sessions
}

/**
 * Adds the native HTTP API to this app, or to a scope of one. What it sets (the error handler, parsers, hooks, the
 * answer to an unknown route) holds for the scope alone, and its paths begin with the scope's prefix. Call it before
 * other routes are added.
 */
export function addNativeApi(app: FastifyInstance, deps: NativeApiDeps): void {
  const { engine, registry, logger, bounds } = deps
  bounds.boundRequests(app)
  app.setErrorHandler(buildErrorHandler(logger))
  app.removeAllContentTypeParsers()
  endConnectionsWhileStopping(app, engine)
  answerUnknownRoutes(app)
  countAnswers(app, registry)
  tellTime(app)
  if (deps.console !== undefined) keepSessionsFromCaches(app)
  guardRoutes(app, deps.gate, bounds)
  if (deps.logRequests === true) app.addHook('onResponse', logAnswer(logger))
  registerEngineGauges(registry, engine)
  registerStoreGauges(registry, engine)
  app.addHook('onReady', () => assertOwnMetricsAreWritten(registry))
  registerRoutes(app, deps)
}

/**
 * Logs one line for each answer, with the route's pattern instead of the path, and without anything the caller wrote.
 */
function logAnswer(logger: Logger): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  return function writeAnswer(request, reply, done) {
    const { id: requestId, method, routeOptions } = request
    const ms = Math.round(reply.elapsedTime * 10) / 10
    logger.info({ requestId, method, route: routeOptions.url, status: reply.statusCode, ms }, 'answered')
    done()
  }
}

function registerRoutes(app: FastifyInstance, deps: NativeApiDeps): void {
  const { engine, gate, bounds, registry, version, page, handlerTimeoutMs } = deps
  const { storeForced = false, insecure = [], waitMsMax = WAIT_MS_MAX } = deps
  const operations = OPERATIONS.filter((operation) => hasOperation(operation, deps))
  const api = { version, url: app.prefix || '/', waitMsMax }
  const readDocument = makeOnce(() => makeDocument(operations, api))
  app.register(buildSubmitRoute(engine, gate, waitMsMax))
  app.register(buildGetTransactionRoute(engine, handlerTimeoutMs))
  app.register(buildListTransactionsRoute(engine, handlerTimeoutMs))
  app.register(buildRegisterBranchRoute(engine, gate, handlerTimeoutMs))
  app.register(buildSubmitPreparedRoute(engine, gate, waitMsMax))
  app.register(buildSignalRoute(engine, handlerTimeoutMs))
  app.register(buildAbortRoute(engine, gate, waitMsMax))
  app.register(buildRetryRoute(engine, handlerTimeoutMs))
  app.register(buildStopRoute(engine, handlerTimeoutMs))
  app.register(buildProblemsRoute(engine, handlerTimeoutMs))
  app.register(buildPauseRoute(engine, handlerTimeoutMs))
  app.register(buildResumeRoute(engine, handlerTimeoutMs))
  app.register(buildRetryOpRoute(engine, handlerTimeoutMs))
  app.register(buildSkipOpRoute(engine, handlerTimeoutMs))
  app.register(buildEditOpRoute(engine, handlerTimeoutMs))
  app.register(buildPreviewRoute(engine, handlerTimeoutMs))
  app.register(buildShowRequestRoute(engine, deps.logger, handlerTimeoutMs))
  app.register(buildGetSessionRoute(gate))
  app.register(buildRootRoute(version, { docs: page === 'docs', console: deps.console !== undefined }))
  app.register(buildOverviewRoute(engine, handlerTimeoutMs))
  app.register(buildServicesRoute(engine, handlerTimeoutMs))
  app.register(buildNamesRoute(engine, handlerTimeoutMs))
  app.register(buildPanelRoutes(deps.panels ?? [], gate, engine, handlerTimeoutMs))
  app.register(buildLiveStreamRoute(engine, gate, { ...DEFAULT_LIVE_LIMITS, ...deps.live }))
  app.register(addLiveRoute)
  app.register(buildReadyRoute(engine, gate, { storeForced, insecure }))
  app.register(
    buildMetricsRoute(registry, deps.readMetrics ?? (() => readMetrics(registry)), handlerTimeoutMs),
  )
  app.register(buildOpenApiRoute(readDocument, engine))
  if (page === 'docs') app.register(buildDocsRoute(readDocument, engine, bounds))
  if (engine.bulk !== undefined) app.register(buildBulkRoutes(engine.bulk, handlerTimeoutMs))
  if (engine.views !== undefined) app.register(buildViewRoutes(engine.views, handlerTimeoutMs))
  if (deps.breaks !== undefined) app.register(buildDevRoutes(deps.breaks))
  if (deps.console !== undefined) registerConsole(app, deps.console, deps)
}

function hasOperation(operation: Operation, { engine, page, console, breaks }: NativeApiDeps): boolean {
  if (operation === docsOperation) return page === 'docs'
  if (CONSOLE_OPERATIONS.has(operation)) return console !== undefined
  if (BULK_OPERATIONS.has(operation)) return engine.bulk !== undefined
  if (VIEW_OPERATIONS.has(operation)) return engine.views !== undefined
  return breaks !== undefined || !DEV_OPERATIONS.has(operation)
}

function registerConsole(app: FastifyInstance, console: ConsoleDeps, deps: NativeApiDeps): void {
  const session = { ...deps, ...(console.sessions && { sessions: console.sessions }) }
  app.register(buildOpenSessionRoute(session))
  app.register(buildEndSessionRoute(session))
  app.register(buildConsoleRoutes(console.directory, deps.bounds), CONSOLE_ROUTES)
}

/**
 * Makes the document when a caller first reads it. To load it with zod and the schemas would take 90 ms of each start.
 */
async function makeDocument(operations: readonly Operation[], api: DocumentedApi): Promise<JsonObject> {
  const { buildOpenApiDocument } = await import('./openapi/document.ts')
  return buildOpenApiDocument(operations, api)
}
