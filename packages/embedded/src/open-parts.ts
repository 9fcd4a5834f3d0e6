import { branchCaller, InProcessDirectory } from '@counterstep/branch-http'
import {
  createOriginFinder,
  hasEveryPort,
  listOrigins,
  listServiceNames,
  type TargetRules,
  targetPolicy,
} from '@counterstep/branch-http/targets'
import type { Store } from '@counterstep/core'
import { refuseStoredJsonRpc } from '@counterstep/dtm/json-rpc'
import {
  createEngine,
  type EngineApi,
  type EngineSettings,
  guardLogger,
  type Logger,
  listDurabilityWarnings,
  listRetentionWarnings,
  logEvents,
  nameNode,
  nodeClock,
  nodeIds,
} from '@counterstep/engine'
import { VERSION } from '@counterstep/protocol'
import {
  countStoreEvents,
  createBareRegistry,
  createPrometheusObserver,
  type Registry,
} from '@counterstep/server/metrics'
import { Closers } from './closers.ts'
import { readEngineSettings } from './engine-settings.ts'
import { refuseUnknown } from './known-options.ts'
import type { CounterstepOptions, OpenStore } from './options.ts'
import { readTargetRules } from './target-rules.ts'

/** Branch calls may go on for this long once Counterstep closes. A whole close takes at most 10 s. */
const DRAIN_MS = 8_000

export const OPTION_NAMES: readonly string[] = [
  ...['store', 'targets', 'branches', 'calls', 'settings', 'logger', 'tracer', 'registry'],
]

/** Holds options that were checked. */
export interface CheckedOptions extends CounterstepOptions {
  readonly logger: Logger
  readonly rules: TargetRules
  readonly directory: InProcessDirectory
  readonly engine: EngineSettings
}

/** Holds all that runs transactions in this process. Its host starts and closes it. */
export interface Parts {
  readonly engine: EngineApi
  readonly store: Store
  readonly logger: Logger
  readonly registry: Registry
  readonly settings: EngineSettings
  /** These protections are switched off on purpose. /health/ready lists them. */
  readonly insecure: readonly string[]
  /** Takes up the transactions that an earlier process left, and begins to run new ones. */
  start(): Promise<void>
  /**
   * Refuses new work, lets branch calls end for a bounded time, and gives the transactions that are not final back to
   * the store.
   */
  drain(): Promise<void>
  /** Drains, and closes everything that was opened here, in the reverse order. */
  close(): Promise<void>
  /** Makes `close` call this function first, before it closes the parts themselves. */
  onClose(close: () => Promise<void>): void
}

/** Checks options before anything is opened. Throws a TypeError or a RangeError that says what is wrong. */
export function checkOptions(options: CounterstepOptions & { readonly logger: Logger }): CheckedOptions {
  refuseUnknown('counterstep', options, OPTION_NAMES)
  const { store } = options
  if (typeof store !== 'function' && typeof store?.claimDue !== 'function')
    throw new TypeError('counterstep needs a store, or a function that opens one')
  const directory = new InProcessDirectory(options.branches ?? {})
  return {
    ...options,
    logger: guardLogger(options.logger),
    directory,
    rules: directory.addTo(readTargetRules(options.targets, !directory.isEmpty)),
    engine: readEngineSettings(options.settings),
  }
}

/** Opens all parts. If one cannot be opened, closes those that were opened before, and throws its error. */
export async function openParts(options: CheckedOptions): Promise<Parts> {
  const closers = new Closers()
  try {
    return await open(options, closers)
  } catch (error: unknown) {
    // The error of the start is thrown. A failure of the clean-up is only logged, since it would hide that error.
    await closers
      .close()
      .catch((closeError: unknown) => options.logger.warn({ err: closeError }, 'clean-up failed'))
    throw error
  }
}

async function open(options: CheckedOptions, closers: Closers): Promise<Parts> {
  const { registry = createBareRegistry(), logger } = options
  const targets = targetPolicy(options.rules)
  const listedOrigins = listOrigins(options.rules)
  const { directory } = options
  const branches = branchCaller(
    { ...options.calls, targets, listedOrigins },
    {
      directory,
      onError: (err, { gid, branchId, op }) =>
        logger.warn({ err, gid, branchId, op }, 'a branch of this process has failed'),
    },
  )
  closers.add(() => branches.close())
  const store = await openStore(options.store, logger, registry, closers)
  const engine = createEngine({
    store,
    branches,
    checkUrl: (url) => targets.check(url) ?? directory.check(url),
    refuseCall: refuseStoredJsonRpc,
    findOrigin: createOriginFinder(targets),
    listedOrigins,
    clock: nodeClock(),
    ids: nodeIds(),
    observer: createPrometheusObserver(registry, logEvents(logger), listServiceNames(options.rules)),
    ...(options.tracer && { tracer: options.tracer }),
    node: { id: nameNode(), version: VERSION },
    settings: options.engine,
  })
  const drain = () => engine.close(DRAIN_MS)
  closers.add(drain)
  if (options.targets === 'insecure-any')
    logger.warn(
      {},
      'insecure-any: a client that may submit can make this app call any URL, also inside your network',
    )
  if (hasEveryPort(options.rules.allowed))
    logger.warn(
      {},
      'targets.allow has a range with every port: a client that may submit can make this app call any server there',
    )
  for (const warning of listRetentionWarnings(options.engine, 'settings.retentionMs'))
    logger.warn({}, warning)
  return {
    engine,
    store,
    logger,
    registry,
    settings: options.engine,
    insecure: options.targets === 'insecure-any' ? ['allow-any-target'] : [],
    async start() {
      await engine.start()
      const { name, durabilityClass, failover } = store
      for (const warning of listDurabilityWarnings(store, "the store's option failover"))
        logger.warn({}, warning)
      logger.info({ store: name, durabilityClass, failover }, 'counterstep runs')
    },
    drain,
    close: () => closers.close(),
    onClose: (close) => closers.add(close),
  }
}

async function openStore(
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
