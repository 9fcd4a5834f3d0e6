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
import { checkFaceOption, openGate } from './open-gate.ts'
import type { Face, PluginOptions } from './options.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Distributed transactions, in this process. */
    counterstep: Counterstep
  }
}

/**
 * The orchestrator inside a Fastify app.
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
  if (face !== false) checkFaceOption(face)
  const logger = options.logger ?? app.log.child({}, { serializers: { err: toLoggedError } })
  const parts = await openParts(checkOptions({ ...rest, logger }))
  try {
    await addTo(app, face, parts)
  } catch (error: unknown) {
    // The reason of the failed registration counts. A failure of the clean-up would only hide it.
    await parts.close().catch((closeError: unknown) => logger.warn({ err: closeError }, 'clean-up failed'))
    throw error
  }
}

async function addTo(app: FastifyInstance, face: Face | false, parts: Parts): Promise<void> {
  app.decorate('counterstep', toCounterstep(parts.engine))
  if (face !== false) {
    const { gate, close } = await openGate(face, parts.logger)
    parts.onClose(async () => close())
    await addApi(app, face, { ...parts, gate })
  }
  app.addHook('onReady', () => parts.start())
  // A caller that waited for an end is answered late in the close, and would hold it for its connection's whole keep-alive time.
  if ('closeIdleConnections' in app.server) endIdleConnectionsWhileClosing(app)
  // Ahead of every onClose, where the app gives up what this needs: the store, if it is the user's.
  app.addHook('preClose', () => parts.drain())
  app.addHook('onClose', () => parts.close())
}
