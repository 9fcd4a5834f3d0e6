import type { AddressInfo } from 'node:net'
import { httpBranchCaller } from '@counterstep/branch-http'
import type { Store } from '@counterstep/core'
import { createEngine, type Engine, nodeClock, nodeIds } from '@counterstep/engine'
import { buildApp, createRegistry, type Logger, logEvents, prometheusObserver } from '@counterstep/server'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { closeApp } from './close-app.ts'
import type { ServeConfig } from './config.ts'

/** How long branch calls may go on after a stop was asked; all of a stop takes at most 10 s. */
const DRAIN_MS = 8_000

export interface ServeDeps {
  readonly config: ServeConfig
  readonly logger: Logger
  readonly version: string
  /** The store cannot go on; nothing of this process can. */
  readonly onBroken: (error: unknown) => void
}

export interface Serving {
  readonly url: string
  /** Refuses new work, lets calls finish, gives everything back to the store, closes. */
  stop(): Promise<void>
}

/** The composition root: the one place that picks a store and puts the parts together. */
export async function serve(deps: ServeDeps): Promise<Serving> {
  const closers: (() => Promise<void>)[] = []
  // Last opened, first closed; and all of it, whatever fails on the way.
  const stop = async () => {
    const errors: unknown[] = []
    for (const close of closers.splice(0).reverse()) await close().catch((error) => errors.push(error))
    if (errors.length > 0) throw new AggregateError(errors, 'the stop was not clean')
  }
  try {
    return { url: await open(deps, closers), stop }
  } catch (error) {
    // The reason of the failed start counts; what its clean-up meets would only hide it.
    await stop().catch((closeError: unknown) => deps.logger.warn({ err: closeError }, 'clean-up failed'))
    throw error
  }
}

async function open(deps: ServeDeps, closers: (() => Promise<void>)[]): Promise<string> {
  const { config, logger, version, onBroken } = deps
  for (const warning of config.warnings) logger.warn({}, warning)
  const store = await openSqliteStore({ ...config.store, onBroken })
  closers.push(() => store.close())
  const branches = httpBranchCaller()
  closers.push(() => branches.close())
  const registry = createRegistry()
  const engine = createEngine({
    store,
    branches,
    clock: nodeClock(),
    ids: nodeIds(),
    observer: prometheusObserver(registry, logEvents(logger)),
    settings: config.engine,
  })
  const app = buildApp({ engine, store, registry, logger, version })
  closers.push(() => closeApp(app))
  // Pushed last, so closed first: while calls finish, the listening app answers 503 to new work.
  closers.push(() => engine.close(DRAIN_MS))
  await engine.start()
  await app.listen({ host: config.host, port: config.port })
  const url = urlOf(app.server.address())
  logger.info({ url, ...describeStore(store, engine), file: config.store.path, version }, 'listening')
  return url
}

function describeStore(store: Store, engine: Engine) {
  const { durabilityClass, failover } = engine.health().store
  return { store: store.name, durabilityClass, failover }
}

function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
