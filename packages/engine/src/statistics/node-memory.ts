/** Puts together what a node of its own process remembers of itself, and tells its fellows. */
import type { Clock, Ids, Store } from '@counterstep/core'
import { type ObservedStore, observeStore } from '../observed-store.ts'
import type { EngineObserver } from '../observer.ts'
import { tellFailingServices } from '../tell-failing-services.ts'
import { tellOutages } from '../tell-outages.ts'
import { Figures } from './figures.ts'
import { LoopDelay } from './loop-delay.ts'
import { writeNodeDocument } from './node-document.ts'
import { NodeReports } from './node-reports.ts'
import { countInto, NodeStatistics } from './node-statistics.ts'
import type { NodeState } from './node-sums.ts'
import { StoreReader } from './store-reader.ts'

export interface NodeFacts {
  /** It has 1 to 128 visible characters, and no other node has it. */
  readonly id: string
  readonly version: string
}

export interface NodeMemoryParts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Pick<Ids, 'writeId'>
  readonly observer: EngineObserver
  readonly node?: NodeFacts
  readonly readEpochMs?: () => number
  /** The statistics leave these services out. */
  readonly alertServices?: ReadonlySet<string>
  readonly readLoad: () => Pick<NodeState, 'inFlight' | 'inFlightMax' | 'loads'>
}

export interface NodeMemory {
  /** It counts what it passes on. */
  readonly observer: EngineObserver
  readonly store: ObservedStore
  readonly figures: Figures
  start(): void
  stop(): Promise<void>
}

/** The node of a host that gives no facts, for instance of a test. It is told to no other node. */
const UNTOLD: NodeFacts = { id: 'this-node', version: '' }

export function openNodeMemory(parts: NodeMemoryParts): NodeMemory {
  const { clock, ids, node, readEpochMs = Date.now, readLoad } = parts
  const statistics = new NodeStatistics(readEpochMs)
  const told = tellFailingServices(tellOutages(parts.observer, clock), clock, readEpochMs)
  const observer = countInto(statistics, told, parts.alertServices)
  const store = observeStore(parts.store, observer, clock)
  const loopDelay = new LoopDelay(clock)
  const { id, version } = node ?? UNTOLD
  const isTold = node !== undefined && store.capabilities.shared
  const reports: NodeReports | undefined = isTold
    ? new NodeReports({
        ...{ store, clock, ids, observer, readEpochMs, id },
        writeText: () => writeNodeDocument(figures.collectOwn()),
      })
    : undefined
  const figures = new Figures({
    ...{ statistics, store, reports },
    storeReader: new StoreReader(store, clock, readEpochMs),
    readState: () => ({ id, version, loopP99Ms: loopDelay.p99Ms, ...readLoad() }),
  })
  return {
    ...{ observer, store, figures },
    start() {
      if (node !== undefined) loopDelay.start()
      reports?.start()
    },
    async stop() {
      loopDelay.stop()
      await reports?.stop()
    },
  }
}
