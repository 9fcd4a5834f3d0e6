import {
  answerClientErrors,
  ConnectionBounds,
  createGate,
  endIdleConnectionsWhileClosing,
  type Gate,
  readBearerKey,
  readQuery,
  toConnectionOptions,
  WITHOUT_SCHEMAS,
} from '@counterstep/access'
import type { Logger } from '@counterstep/engine'
import { BODY_BYTES_MAX, CounterstepError, VERSION } from '@counterstep/protocol'
import { type FastifyInstance, fastify } from 'fastify'
import { buildErrorHandler } from './error-handler.ts'
import { buildProblem, PROBLEM_TYPE } from './http/problem.ts'
import { silentLogger } from './logger.ts'
import { createRegistry, type Registry } from './metrics/registry.ts'
import { addNativeApi, type NativeApiDeps } from './native-api.ts'
import { DEFAULT_SERVER_LIMITS, PARAM_LENGTH_MAX, type ServerLimits } from './server-limits.ts'

type Optional = 'bounds' | 'gate' | 'registry' | 'logger' | 'version'

export interface AppDeps extends Omit<NativeApiDeps, Optional | 'page' | 'handlerTimeoutMs'> {
  /** All HTTP APIs of a process share these bounds. By default the app has bounds of its own, with the limits below. */
  readonly bounds?: ConnectionBounds
  /** Decides who may do what. By default every caller may do everything, except a page of another origin. */
  readonly gate?: Gate
  /** `createPrometheusObserver` has to write to the same registry. By default the app makes one. */
  readonly registry?: Registry
  /** The default logs nothing. */
  readonly logger?: Logger
  /** The OpenAPI document shows this version. */
  readonly version?: string
  /** The page is under /docs unless this is `none`. */
  readonly page?: NativeApiDeps['page']
  readonly limits?: Partial<ServerLimits>
}

const answerClientError = answerClientErrors(({ status, detail }) => {
  const code = status === 431 ? 'SAGA_HEADER_INVALID' : 'SAGA_INVALID'
  return { contentType: PROBLEM_TYPE, body: JSON.stringify(buildProblem(code, { status, detail })) }
})

/** Builds the native HTTP API as a fastify app of its own, which does not listen yet. */
export function buildApp({ limits: givenLimits, ...deps }: AppDeps): FastifyInstance {
  const limits = { ...DEFAULT_SERVER_LIMITS, ...givenLimits }
  const logger = deps.logger ?? silentLogger
  const bounds = deps.bounds ?? new ConnectionBounds(limits)
  const app = createApp(limits, logger, bounds)
  bounds.boundConnections(app.server)
  refuseWhileClosing(app)
  endIdleConnectionsWhileClosing(app)
  addNativeApi(app, {
    ...deps,
    logger,
    bounds,
    gate: deps.gate ?? createGate({ credentials: readBearerKey }),
    registry: deps.registry ?? createRegistry(),
    version: deps.version ?? VERSION,
    page: deps.page ?? 'docs',
    handlerTimeoutMs: limits.handlerTimeoutMs,
  })
  return app
}

function createApp(limits: ServerLimits, logger: Logger, bounds: ConnectionBounds): FastifyInstance {
  return fastify({
    // Fastify's logger would make a child logger for each request. Our hooks and handlers log by themselves.
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    ...toConnectionOptions(limits),
    schemaController: WITHOUT_SCHEMAS,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX, querystringParser: readQuery },
    clientErrorHandler: answerClientError,
    frameworkErrors: bounds.refuseAfterFrameworkErrors(buildErrorHandler(logger)),
  })
}

/** Answers 503 SAGA_STOPPING to requests that arrive on open connections while the app closes. */
function refuseWhileClosing(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', (done) => {
    isClosing = true
    done()
  })
  app.addHook('onRequest', function refuse(_request, _reply, done) {
    if (isClosing) done(new CounterstepError('SAGA_STOPPING', 'this node is stopping'))
    else done()
  })
}
