import {
  ConnectionBounds,
  createGate,
  endIdleConnectionsWhileClosing,
  type Gate,
  readBearerKey,
  toConnectionOptions,
  WITHOUT_SCHEMAS,
} from '@counterstep/access'
import type { Logger } from '@counterstep/engine'
import { BODY_BYTES_MAX, VERSION } from '@counterstep/protocol'
import { type FastifyInstance, fastify } from 'fastify'
import { buildErrorHandler } from './error-handler.ts'
import { answerClientError } from './http/client-error.ts'
import { refuseWhileClosing } from './http/closing.ts'
import { silentLogger } from './logger.ts'
import { createRegistry, type Registry } from './metrics/registry.ts'
import { addNativeApi, type NativeApiDeps } from './native-api.ts'
import { DEFAULT_SERVER_LIMITS, PARAM_LENGTH_MAX, type ServerLimits } from './server-limits.ts'

type Optional = 'bounds' | 'gate' | 'registry' | 'logger' | 'version'

export interface AppDeps extends Omit<NativeApiDeps, Optional | 'page' | 'handlerTimeoutMs'> {
  /** Shared by all HTTP APIs of a process. Default: bounds of its own, by the limits. */
  readonly bounds?: ConnectionBounds
  /** Decides who may do what. Default: every caller may do everything, but no page of another origin may. */
  readonly gate?: Gate
  /** The one that `createPrometheusObserver` writes to. Default: a fresh one. */
  readonly registry?: Registry
  /** Default: silent. */
  readonly logger?: Logger
  /** Shown in the OpenAPI document. */
  readonly version?: string
  /** The page under /docs. Default: there is one. */
  readonly page?: NativeApiDeps['page']
  readonly limits?: Partial<ServerLimits>
}

/** The native face as a fastify app of its own, which has not listened. */
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
    // Fastify's logger would make a child for each request; ours is asked only for what is logged.
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    ...toConnectionOptions(limits),
    schemaController: WITHOUT_SCHEMAS,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    clientErrorHandler: answerClientError,
    frameworkErrors: bounds.refuseAfterFrameworkErrors(buildErrorHandler(logger)),
  })
}
