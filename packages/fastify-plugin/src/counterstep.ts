import { endIdleConnectionsWhileClosing } from '@counterstep/access'
import {
  type Counterstep,
  checkOptions,
  OPTION_NAMES,
  openParts,
  type Parts,
  refuseUnknown,
  toCounterstep,
} from '@counterstep/embedded'
import { toLoggedError } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { fastifyPlugin } from 'fastify-plugin'
import { addApi } from './add-api.ts'
import { checkFaceOption, type FaceAccess, openGate } from './open-gate.ts'
import type { Face, PluginOptions } from './options.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** It submits distributed transactions, which run in this process. */
    counterstep: Counterstep
  }
}

/**
 * Adds the orchestrator to a Fastify app.
 *
 * @example
 * ```ts
 * await app.register(counterstep, {
 *   store: (onEvent) => openMysqlStore({ url, onEvent }),
 *   targets: { services: { bank: 'https://bank.internal/api' } },
 * })
 * ```
 */
export const counterstep = fastifyPlugin(addCounterstep, { fastify: '5.x', name: 'counterstep' })

async function addCounterstep(app: FastifyInstance, options: PluginOptions): Promise<void> {
  if (app.hasDecorator('counterstep')) {
    throw new Error(
      'this app has counterstep already; register a second one, with a store and a face.prefix of its own, in a ' +
        'scope beside the first: app.register(async (scope) => { await scope.register(counterstep, …) })',
    )
  }
  refuseUnknown('counterstep', options, [...OPTION_NAMES, 'face'])
  const { face = false, ...rest } = options
  const api = face === false ? undefined : { face, access: checkFaceOption(face) }
  const logger = options.logger ?? app.log.child({}, { serializers: { err: toLoggedError } })
  const parts = await openParts(checkOptions({ ...rest, logger }))
  try {
    await addParts(app, api, parts)
  } catch (error: unknown) {
    // The error of the registration is thrown. A failure of the clean-up is only logged, since it would hide that
    // error.
    await parts.close().catch((closeError: unknown) => logger.warn({ err: closeError }, 'clean-up failed'))
    throw error
  }
}

async function addParts(
  app: FastifyInstance,
  api: { readonly face: Face; readonly access: FaceAccess } | undefined,
  parts: Parts,
): Promise<void> {
  app.decorate('counterstep', toCounterstep(parts.engine))
  if (api !== undefined) {
    const { face, access } = api
    const { gate, sessions, keys, close } = await openGate(face, access, parts.logger, parts.store)
    parts.onClose(async () => close())
    await addApi(app, face, { ...parts, gate, ...(sessions && { sessions }), ...(keys && { keys }) })
  }
  app.addHook('onReady', () => parts.start())
  // A caller that waited for the end of a transaction is answered late in the close. Without this, its connection would
  // delay the close for its whole keep-alive time.
  if ('closeIdleConnections' in app.server) endIdleConnectionsWhileClosing(app)
  // This drains before every onClose hook, since the app may close the store in one if it opened the store itself.
  app.addHook('preClose', () => parts.drain())
  app.addHook('onClose', () => parts.close())
}
