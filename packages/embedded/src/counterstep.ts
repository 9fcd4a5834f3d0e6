import { endIdleConnectionsWhileClosing } from '@counterstep/access'
import { httpBranchCaller } from '@counterstep/branch-http'
import type { Store } from '@counterstep/core'
import {
  createEngine,
  durabilityWarnings,
  type Logger,
  logEvents,
  loggedError,
  nodeClock,
  nodeIds,
} from '@counterstep/engine'
import { countStoreEvents, createBareRegistry, prometheusObserver, type Registry } from '@counterstep/server'
import { hasEveryPort, originFinder, targetPolicy } from '@counterstep/targets'
import type { FastifyInstance } from 'fastify'
import { fastifyPlugin } from 'fastify-plugin'
import { addFace } from './add-face.ts'
import { Closers } from './closers.ts'
import { engineSettings } from './engine-settings.ts'
import { type Counterstep, inProcess } from './in-process.ts'
import { refuseUnknown } from './known-options.ts'
import { checkFace, openGate } from './open-gate.ts'
import type { CounterstepOptions, OpenStore } from './options.ts'
import { targetRules } from './target-rules.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Distributed transactions, in this process. */
    counterstep: Counterstep
  }
}

/** How long branch calls may go on once the app closes; all of it takes at most 10 s. */
const DRAIN_MS = 8_000
const OPTIONS = ['store', 'targets', 'face', 'calls', 'settings', 'logger', 'registry']

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
export const counterstep = fastifyPlugin(addCounterstep, {
  fastify: '5.x',
  name: '@counterstep/embedded',
})

async function addCounterstep(app: FastifyInstance, options: CounterstepOptions): Promise<void> {
  const checkedOptions = checked(app, options)
  const closers = new Closers()
  try {
    await open(app, checkedOptions, closers)
  } catch (error: unknown) {
    // The reason of the failed start counts; what its clean-up meets would only hide it.
    await closers
      .close()
      .catch((closeError: unknown) => checkedOptions.logger.warn({ err: closeError }, 'clean-up failed'))
    throw error
  }
}

interface Checked extends CounterstepOptions {
  readonly logger: Logger
  readonly rules: ReturnType<typeof targetRules>
  readonly engine: ReturnType<typeof engineSettings>
}

/** Before anything is opened. */
function checked(app: FastifyInstance, options: CounterstepOptions): Checked {
  if (app.hasDecorator('counterstep')) {
    throw new Error(
      'this app has counterstep already; register a second one, with a store and a face.prefix of its own, in a ' +
        'scope beside the first: app.register(async (scope) => { await scope.register(counterstep, …) })',
    )
  }
  refuseUnknown('counterstep', options, OPTIONS)
  const { store, face = false } = options
  if (typeof store !== 'function' && typeof store?.claimDue !== 'function')
    throw new TypeError('counterstep needs a store, or a function that opens one')
  if (face !== false) checkFace(face)
  return {
    ...options,
    logger: options.logger ?? app.log.child({}, { serializers: { err: loggedError } }),
    rules: targetRules(options.targets),
    engine: engineSettings(options.settings),
  }
}

async function open(app: FastifyInstance, options: Checked, closers: Closers): Promise<void> {
  const { face = false, registry = createBareRegistry(), logger } = options
  const targets = targetPolicy(options.rules)
  const branches = httpBranchCaller({ ...options.calls, targets })
  closers.add(() => branches.close())
  const store = await storeOf(options.store, logger, registry, closers)
  const engine = createEngine({
    store,
    branches,
    checkUrl: (url) => targets.check(url),
    findOrigin: originFinder(targets),
    clock: nodeClock(),
    ids: nodeIds(),
    observer: prometheusObserver(registry, logEvents(logger)),
    settings: options.engine,
  })
  closers.add(() => engine.close(DRAIN_MS))
  if (options.targets === 'insecure-any')
    logger.warn({}, 'insecure-any: whoever may submit has this app call any URL, inside your network too')
  if (hasEveryPort(options.rules.allowed))
    logger.warn(
      {},
      'targets.allow has a range with every port: whoever may submit calls whatever listens there',
    )
  app.decorate('counterstep', inProcess(engine))
  if (face !== false) {
    const { gate, close } = await openGate(face, logger)
    closers.add(async () => close())
    const insecure = options.targets === 'insecure-any' ? ['allow-any-target'] : []
    await addFace(app, face, { engine, store, logger, registry, gate, insecure })
  }
  app.addHook('onReady', async () => {
    await engine.start()
    const { name, durabilityClass, failover } = store
    for (const warning of durabilityWarnings(store, "the store's option failover")) logger.warn({}, warning)
    logger.info({ store: name, durabilityClass, failover }, 'counterstep runs')
  })
  // Who waited for an end is answered late in the close, and would hold it for his connection's whole keep-alive time.
  if ('closeIdleConnections' in app.server) endIdleConnectionsWhileClosing(app)
  // Ahead of every onClose, where the app gives up what this needs: the store, if it is the user's.
  app.addHook('preClose', () => engine.close(DRAIN_MS))
  app.addHook('onClose', () => closers.close())
}

async function storeOf(
  given: Store | OpenStore,
  logger: Logger,
  registry: Registry,
  closers: Closers,
): Promise<Store> {
  if (typeof given !== 'function') return given
  const store = await given(countStoreEvents(registry, logEvents(logger)))
  closers.add(() => store.close())
  return store
}
