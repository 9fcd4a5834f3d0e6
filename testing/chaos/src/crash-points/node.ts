import { flushCompileCache } from 'node:module'
import { extname } from 'node:path'
import { branchCaller, InProcessDirectory } from '@counterstep/branch-http'
import { createOriginFinder, targetPolicy } from '@counterstep/branch-http/targets'
import type { Store } from '@counterstep/core'
import {
  createEngine,
  DEFAULT_SETTINGS,
  type EngineSettings,
  logEvents,
  nodeClock,
  nodeIds,
} from '@counterstep/engine'
import { buildApp, createLogger, createPrometheusObserver, createRegistry } from '@counterstep/server'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { CrashSwitch } from './crash-switch.ts'
import { crashingBranches } from './crashing-branches.ts'
import { crashingStore } from './crashing-store.ts'
import { maintain } from './maintenance.ts'
import type { NodeArguments, NodeNews, NodeOrder } from './node-messages.ts'
import { openOwnBranches } from './own-branches.ts'

// A composition root as the command line's is one, with crash points around the ports. Production code has none.

/** Everything that waits, waits for a moment: a run must be over soon, and must still renew, release and recover. */
const SETTINGS: EngineSettings = {
  ...DEFAULT_SETTINGS,
  leaseMs: 300,
  pollMs: 100,
  holdMs: 20,
  checkpointMs: 50,
  acceptNewKinds: true,
  retry: { initialMs: 40, factor: 2, capMs: 200, jitter: 1, limit: null },
}

async function main({ path, ownBank, armed, mutant }: NodeArguments): Promise<void> {
  const crash = CrashSwitch.share()
  if (armed !== undefined) crash.arm(armed.point, armed.nth)
  const driver = new URL(`./crashing-driver${extname(import.meta.filename)}`, import.meta.url)
  const sound = crashingStore(await openSqliteStore({ path, driver }), crash)
  const store = mutant === undefined ? sound : forgetfulStore(sound)
  const registry = createRegistry()
  const directory = new InProcessDirectory(ownBank === undefined ? {} : openOwnBranches(ownBank))
  const rules = { services: [], allowed: [], others: 'loopback', isLocal: true } as const
  const targets = targetPolicy(directory.addTo(rules))
  const branches = branchCaller({ targets }, { directory, onError: (error) => console.error(error) })
  const engine = createEngine({
    store,
    branches: crashingBranches(branches, crash),
    checkUrl: (url) => targets.check(url) ?? directory.check(url),
    findOrigin: createOriginFinder(targets),
    clock: nodeClock(),
    ids: nodeIds(),
    observer: createPrometheusObserver(registry, logEvents(createLogger({ level: 'error' }))),
    settings: SETTINGS,
  })
  const app = buildApp({ engine, registry, page: 'none' })
  process.on('message', (order: NodeOrder) => {
    void obey(order, crash, () => maintain(store)).then(tell)
  })
  await engine.start()
  tell({ type: 'listening', url: await app.listen({ host: '127.0.0.1', port: 0 }) })
  // Node writes the compile cache by itself only at the exit, and most of these processes have none.
  flushCompileCache()
}

async function obey(order: NodeOrder, crash: CrashSwitch, keepHouse: () => Promise<void>): Promise<NodeNews> {
  switch (order.type) {
    case 'arm':
      crash.arm(order.hit.point, order.hit.nth)
      return { type: 'armed' }
    case 'disarm': {
      const counts = crash.counts()
      crash.disarm()
      return { type: 'disarmed', counts }
    }
    case 'maintain':
      await keepHouse()
      return { type: 'maintained' }
  }
}

function tell(news: NodeNews): void {
  process.send?.(news)
}

/** A store with the one fault that none may have: it says of a new row that it is durable, and has not written it. */
function forgetfulStore(store: Store): Store {
  const create: Store['create'] = () => {
    const now = Date.now()
    return Promise.resolve({ type: 'created', createdAt: now, now })
  }
  return new Proxy(store, {
    get: (target, name) => (name === 'create' ? create : Reflect.get(target, name)),
  })
}

// The process that started this one is gone.
process.on('disconnect', () => process.exit(0))
await main(JSON.parse(process.argv[2] ?? '') as NodeArguments)
