import type { AddressInfo } from 'node:net'
import { httpBranchCaller } from '@counterstep/branch-http'
import {
  createOriginFinder,
  listOrigins,
  listServiceNames,
  targetPolicy,
} from '@counterstep/branch-http/targets'
import { isForced, listInsecureSwitches } from '@counterstep/configuration'
import type { Store } from '@counterstep/core'
import { buildDtmApp, createDocumentTopicStore, refuseStoredJsonRpc } from '@counterstep/dtm'
import {
  createEngine,
  type Logger,
  listDurabilityWarnings,
  logEvents,
  nameNode,
  nodeClock,
  nodeIds,
  StoreEventMemory,
} from '@counterstep/engine'
import {
  type Breaks,
  buildApp,
  countStoreEvents,
  createPrometheusObserver,
  createRegistry,
  type Registry,
  readMetrics,
} from '@counterstep/server'
import { type CallSigner, callSigner } from '@counterstep/signature'
import { buildAlertOptions } from './alert-options.ts'
import { closeApp } from './close-app.ts'
import type { ServeConfig } from './config.ts'
import { listPanels } from './list-panels.ts'
import { listen } from './listen.ts'
import { openBounds } from './open-bounds.ts'
import { openConsole } from './open-console.ts'
import { createGates, openKeys } from './open-gates.ts'
import { openStore } from './open-store.ts'
import { describeFailure } from './start-failure.ts'
import { waitForStore } from './wait-for-store.ts'
import { watchSigningKey } from './watch-signing-key.ts'

/** Branch calls may go on for this long after a stop was requested. The whole stop takes at most 10 s. */
const DRAIN_MS = 8_000

export interface ServeDeps {
  readonly config: ServeConfig
  readonly logger: Logger
  readonly version: string
  /** It ends a start that still waits for its store. Once the server listens, `stop` ends it. */
  readonly signal: AbortSignal
  /** It is called if the store cannot go on. The whole process then has to end. */
  readonly onBroken: (error: unknown) => void
  /** Only `counterstep dev` gives it: callers may break the calls of branches on purpose. */
  readonly breaks?: Breaks
}

export interface Serving {
  readonly url: string
  /** This is the URL of the console, if it is on. */
  readonly consoleUrl?: string
  /** This is the URL of DTM's HTTP API, if it is on. */
  readonly dtmUrl?: string
  /** Refuses new work, lets calls finish, gives all transactions back to the store, and closes. */
  stop(): Promise<void>
}

type Closers = (() => Promise<void>)[]

/** Puts the parts of the server together and starts them. */
export async function serve(deps: ServeDeps): Promise<Serving> {
  const closers: Closers = []
  // The parts close in the reverse order of their opening. If one fails to close, the others still close.
  const stop = async () => {
    const errors: unknown[] = []
    for (const close of closers.splice(0).reverse()) await close().catch((error) => errors.push(error))
    if (errors.length > 0) throw new AggregateError(errors, 'the stop was not clean')
  }
  try {
    return { ...(await open(deps, closers)), stop }
  } catch (error) {
    // The caller needs the reason of the failed start, so an error of the clean-up is only logged.
    await stop().catch((closeError: unknown) => deps.logger.warn({ err: closeError }, 'clean-up failed'))
    throw error
  }
}

async function open(deps: ServeDeps, closers: Closers): Promise<Omit<Serving, 'stop'>> {
  const { config, logger, version, breaks } = deps
  for (const warning of config.warnings) logger.warn({}, warning)
  const registry = createRegistry()
  const keys = await openKeys(config.access, logger)
  closers.push(async () => keys?.close())
  const bounds = openBounds(config.access, logger)
  const storeEvents = new StoreEventMemory()
  const store = await openStoreWhenReady(deps, registry, storeEvents)
  closers.push(() => store.close())
  const console = config.hasConsole ? openConsole(store, keys) : undefined
  const gates = createGates(config.access, keys, console?.sessions)
  for (const warning of listDurabilityWarnings(store, '--store-failover')) logger.warn({}, warning)
  const targets = targetPolicy(config.targets)
  const checkUrl = (url: string) => targets.check(url)
  const listedOrigins = listOrigins(config.targets)
  const signer = openCallSigner(deps, closers)
  const caller = httpBranchCaller({ ...config.caller, targets, listedOrigins, signer })
  const branches = breaks?.wrap(caller) ?? caller
  closers.push(() => branches.close())
  const ids = nodeIds()
  const engine = createEngine({
    store,
    branches,
    checkUrl,
    refuseCall: refuseStoredJsonRpc,
    findOrigin: createOriginFinder(targets),
    listedOrigins,
    plainIds: config.plainIds,
    clock: nodeClock(),
    ids,
    observer: createPrometheusObserver(registry, logEvents(logger), listServiceNames(config.targets)),
    node: { id: nameNode(), version },
    settings: config.engine,
    ...(config.alerts && { alerts: buildAlertOptions(config.alerts, storeEvents) }),
  })
  const topics = createDocumentTopicStore(store, () => ids.writeId())
  const app = buildApp({
    engine,
    storeForced: isForced(config.store),
    insecure: listInsecureSwitches(config),
    gate: gates.native,
    bounds,
    registry,
    logger,
    version,
    panels: listPanels(config, keys, topics),
    live: config.live,
    ...(console && { console }),
    ...(breaks && { breaks }),
  })
  closers.push(() => closeApp(app))
  const dtm = buildDtmApp({
    engine,
    gate: gates.dtm,
    bounds,
    topics,
    checkUrl,
    plainIds: config.plainIds,
    nodeMetrics: () => readMetrics(registry),
    onError: (error) => logger.error({ err: error }, 'request failed'),
  })
  closers.push(() => closeApp(dtm))
  // This is pushed last and so runs first: while calls finish, the listening app answers 503 to new work.
  closers.push(() => engine.close(DRAIN_MS))
  await engine.start()
  await listen(app, config.host, config.port)
  const url = toUrl(app.server.address())
  const consoleUrl = console && { consoleUrl: `${url}/console/` }
  const urls = { url, ...consoleUrl, ...(await listenAsDtm(dtm, config)) }
  logger.info({ ...urls, ...describeStore(store), place: config.store.place, version }, 'listening')
  return urls
}

function describeStore({ name, durabilityClass, failover }: Store) {
  return { store: name, durabilityClass, failover }
}

/** Returns a signer that uses the key in the file and follows its changes. */
function openCallSigner({ config, logger }: ServeDeps, closers: Closers): CallSigner | undefined {
  if (config.signingKeyFile === undefined) return undefined
  const { current, close } = watchSigningKey(config.signingKeyFile, {
    onKey: ({ keyId, algorithm }) => logger.info({ keyId, algorithm }, 'signing with another key'),
    onProblem: (problem) => logger.error({}, problem),
  })
  closers.push(async () => close())
  const { keyId, algorithm } = current()
  logger.info({ keyId, algorithm }, 'branch calls are signed')
  return callSigner(current, Date.now)
}

async function listenAsDtm(
  app: ReturnType<typeof buildDtmApp>,
  { host, dtmPort }: ServeConfig,
): Promise<{ readonly dtmUrl?: string }> {
  if (dtmPort === 'off') return {}
  await listen(app, host, dtmPort)
  return { dtmUrl: toUrl(app.server.address()) }
}

function openStoreWhenReady(
  { config, logger, signal, onBroken }: ServeDeps,
  registry: Registry,
  storeEvents: StoreEventMemory,
): Promise<Store> {
  const { place, waitMs } = config.store
  const logEvent = logEvents(logger)
  const onEvent = countStoreEvents(registry, (event) => {
    storeEvents.note(event)
    logEvent(event)
  })
  return waitForStore(() => openStore(config.store, { onBroken, onEvent }), {
    waitMs,
    signal,
    onRetry: (error, waitedMs) =>
      logger.warn(
        { place, waitedMs, waitMs, reason: describeFailure(error).sentence },
        'waiting for the store',
      ),
  })
}

function toUrl(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
