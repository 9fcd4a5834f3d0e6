import type { AddressInfo } from 'node:net'
import { branchCaller } from '@counterstep/branch-http'
import {
  createOriginFinder,
  listOrigins,
  listServiceNames,
  type RuledTargetPolicy,
  targetPolicy,
} from '@counterstep/branch-http/targets'
import { isForced, listInsecureSwitches } from '@counterstep/configuration'
import type { Store } from '@counterstep/core'
import {
  buildDtmApp,
  createDialect,
  createDocumentTopicStore,
  type DialectDeps,
  refuseStoredJsonRpc,
} from '@counterstep/dtm'
import { type DtmGrpcDeps, type DtmGrpcServer, startDtmGrpc } from '@counterstep/dtm-grpc'
import {
  createEngine,
  type EngineTracer,
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
import { startTelemetry } from '@counterstep/telemetry/start'
import { buildAlertOptions } from './alert-options.ts'
import { closeApp } from './close-app.ts'
import type { ServeConfig } from './config.ts'
import { listPanels } from './list-panels.ts'
import { listen } from './listen.ts'
import { openBounds } from './open-bounds.ts'
import { openConsole } from './open-console.ts'
import { createGates, openKeys } from './open-gates.ts'
import { openStore } from './open-store.ts'
import type { Urls } from './processes/messages.ts'
import { Retirement } from './processes/retirement.ts'
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
  /** Present in one of several processes on this port. The registry has the metrics of this one. */
  readonly metrics?: { openMetrics(registry: Registry): () => Promise<string> }
}

export interface Serving extends Urls {
  /** Takes no new connection, and resolves when the clients have left those that were there, for a bounded time. */
  retire(): Promise<void>
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
    const retirement = new Retirement()
    const urls = await open(deps, closers, retirement)
    return { ...urls, stop, retire: () => retirement.begin() }
  } catch (error) {
    // The caller needs the reason of the failed start, so an error of the clean-up is only logged.
    await stop().catch((closeError: unknown) => deps.logger.warn({ err: closeError }, 'clean-up failed'))
    throw error
  }
}

async function open(deps: ServeDeps, closers: Closers, retirement: Retirement): Promise<Urls> {
  const { config, logger, version, breaks } = deps
  for (const warning of config.warnings) logger.warn({}, warning)
  const registry = createRegistry()
  const readAll = deps.metrics?.openMetrics(registry) ?? (() => readMetrics(registry))
  const tracer = await openTracer(deps, registry, closers)
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
  const caller = branchCaller({ ...config.caller, targets, listedOrigins, signer })
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
    ...(tracer && { tracer }),
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
    readMetrics: readAll,
    ...(console && { console }),
    ...(breaks && { breaks }),
  })
  closers.push(() => closeApp(app))
  const dialectDeps = { engine, topics, ...buildChecks(config, targets), plainIds: config.plainIds }
  const dialect = createDialect(dialectDeps)
  const onError = (error: unknown) => logger.error({ err: error }, 'request failed')
  const dtmAccess = { gate: gates.dtm, bounds, onError, dialect }
  const findConsolePort = () => (config.hasConsole ? readPort(app.server.address()) : undefined)
  const dtm = buildDtmApp({ ...dialectDeps, ...dtmAccess, findConsolePort, nodeMetrics: readAll })
  closers.push(() => closeApp(dtm))
  let grpc: DtmGrpcServer | undefined
  closers.push(async () => grpc?.stop())
  // This is pushed last and so runs first: while calls finish, the listening app answers 503 to new work.
  closers.push(() => engine.close(DRAIN_MS))
  await engine.start()
  const httpUrls = await listenAll(app, dtm, config, retirement)
  grpc = await openGrpc(config, dtmAccess, retirement)
  const urls = { ...httpUrls, ...(grpc && { dtmGrpcUrl: grpc.url }) }
  logger.info({ ...urls, ...describeStore(store), place: config.store.place, version }, 'listening')
  return urls
}

/** Makes the checks of branches that a request of DTM's clients names. A call over gRPC would go around the proxy. */
function buildChecks(
  { engine, caller }: ServeConfig,
  targets: RuledTargetPolicy,
): Pick<DialectDeps, 'checkUrl' | 'checkGrpc'> {
  const hasGrpc = engine.acceptNewKinds && caller.proxyUrl === undefined
  return {
    checkUrl: (url) => targets.check(url),
    ...(hasGrpc ? { checkGrpc: (target: string) => targets.checkGrpc(target) } : {}),
  }
}

/** Starts DTM's gRPC API where it is wanted. */
async function openGrpc(
  { host, dtmGrpc }: ServeConfig,
  access: Omit<DtmGrpcDeps, 'host' | 'port' | 'tls'>,
  retirement: Retirement,
): Promise<DtmGrpcServer | undefined> {
  if (dtmGrpc === undefined) return undefined
  const server = await startDtmGrpc({ ...access, ...dtmGrpc, host })
  retirement.add(server.servers)
  retirement.onBegin(() => server.drain())
  return server
}

/** Returns nothing where no traces are wanted. */
async function openTracer(
  { config, version, logger }: ServeDeps,
  registry: Registry,
  closers: Closers,
): Promise<EngineTracer | undefined> {
  if (config.telemetry === undefined) return undefined
  const { tracer, stop } = await startTelemetry({ ...config.telemetry, registry, version, logger })
  closers.push(stop)
  return tracer
}

function readPort(address: string | AddressInfo | null): number | undefined {
  return typeof address === 'object' ? address?.port : undefined
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

/** Makes both APIs listen, DTM's where it is on. */
async function listenAll(
  app: ReturnType<typeof buildApp>,
  dtm: ReturnType<typeof buildDtmApp>,
  { host, port, dtmPort, hasConsole }: ServeConfig,
  retirement: Retirement,
): Promise<Urls> {
  retirement.follow(app)
  retirement.follow(dtm)
  retirement.add(await listen(app, host, port))
  const url = toUrl(app.server.address())
  const urls = { url, ...(hasConsole ? { consoleUrl: `${url}/console/` } : {}) }
  if (dtmPort === 'off') return urls
  retirement.add(await listen(dtm, host, dtmPort))
  return { ...urls, dtmUrl: toUrl(dtm.server.address()) }
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
