/** Answers what operators ask about the node and its fellows, from memory and from figures that are a few seconds old. */
import type { Store, StoreStats } from '@counterstep/core'
import {
  type NamesView,
  type NodeView,
  type OverviewView,
  type ServicesView,
  UNFINISHED_STATUSES,
  type UnfinishedStatus,
} from '@counterstep/protocol'
import type { NodeReports } from './node-reports.ts'
import type { NodeStatistics } from './node-statistics.ts'
import { collectSums, type NodeState, type NodeSums } from './node-sums.ts'
import { SharedView } from './shared-view.ts'
import type { StoreFigures, StoreReader } from './store-reader.ts'
import { countEndedNames, type EndedOfName, findNameFigures, viewAllNames, viewNames } from './view-names.ts'
import { findWorstServices, type SeenNode, viewServices } from './view-services.ts'

export interface FiguresParts {
  readonly statistics: NodeStatistics
  readonly storeReader: StoreReader
  readonly store: Pick<Store, 'name' | 'durabilityClass' | 'failover'>
  readonly readState: () => NodeState
  /** Absent: no other node shares the store, or none is told. */
  readonly reports: Pick<NodeReports, 'others'> | undefined
}

interface Seen extends SeenNode {
  readonly seenAt: number
}

export class Figures {
  readonly #parts: FiguresParts
  readonly #overview: SharedView<OverviewView>
  readonly #services: SharedView<ServicesView>
  readonly #names: SharedView<NamesView>

  constructor(parts: FiguresParts) {
    this.#parts = parts
    const readMs = () => parts.statistics.now
    this.#overview = new SharedView(() => this.#viewOverview(), readMs)
    this.#services = new SharedView(() => this.#viewServices(), readMs)
    this.#names = new SharedView(async () => this.#viewNames(), readMs)
  }

  /** Reads the figures of the store, which are read once in 5 s at most. Undefined: the store does not answer. */
  readStats(): Promise<StoreStats | undefined> {
    return this.#parts.storeReader.read()
  }

  overview(): Promise<OverviewView> {
    return this.#overview.read()
  }

  services(): Promise<ServicesView> {
    return this.#services.read()
  }

  names(): Promise<NamesView> {
    return this.#names.read()
  }

  /** Counts what has ended in the last 5 minutes under each name, on all nodes that are up. */
  countEnded(): readonly EndedOfName[] {
    const up = this.#listNodes().filter(({ isGone }) => !isGone)
    return countEndedNames(up.flatMap(({ sums }) => sums.names))
  }

  /** Collects the sums of this node, as the other nodes are told them. */
  collectOwn(): NodeSums {
    const { statistics, readState } = this.#parts
    return collectSums(statistics, readState())
  }

  async #viewOverview(): Promise<OverviewView> {
    const { storeReader, statistics, store } = this.#parts
    const figures = await storeReader.readSoon()
    const nodes = this.#listNodes()
    const names = nodes.flatMap(({ sums }) => sums.names)
    const { name, durabilityClass, failover } = store
    return {
      asOf: statistics.now,
      since: statistics.since,
      store: { name, durabilityClass, failover, state: figures.isAway ? 'away' : 'up', asOf: figures.asOf },
      ...viewStats(figures),
      nodes: nodes.map(viewNode),
      ...viewAllNames(names),
      ...findNameFigures(names),
      worstServices: findWorstServices(nodes),
      refusedSubmits: countRefused(nodes),
    }
  }

  async #viewServices(): Promise<ServicesView> {
    const { storeReader, statistics } = this.#parts
    const { stats } = await storeReader.readSoon()
    const nodes = this.#listNodes()
    return {
      ...this.#describeMemory(nodes),
      items: viewServices(nodes, stats?.problems ?? [], statistics.minute),
    }
  }

  #viewNames(): NamesView {
    const nodes = this.#listNodes()
    return { ...this.#describeMemory(nodes), items: viewNames(nodes.flatMap(({ sums }) => sums.names)) }
  }

  #describeMemory(nodes: readonly Seen[]) {
    const { now: asOf, since } = this.#parts.statistics
    return { asOf, since, nodes: nodes.filter(({ isGone }) => !isGone).length }
  }

  /** This node is the first. */
  #listNodes(): readonly Seen[] {
    const own = { sums: this.collectOwn(), isGone: false, seenAt: this.#parts.statistics.now }
    return [own, ...(this.#parts.reports?.others() ?? [])]
  }
}

function viewNode({ sums, isGone, seenAt }: Seen): NodeView {
  const { id, startedAt, inFlight, inFlightMax, loopP99Ms, version } = sums
  const state = isGone ? 'gone' : 'up'
  return { id, startedAt, state, seenAt, inFlight, inFlightMax, loopP99Ms, version }
}

function viewStats({ stats }: StoreFigures) {
  const { oldestDueAt, oldestUnfinishedAt } = stats ?? {}
  return {
    unfinished: stats?.unfinished ?? NONE_UNFINISHED,
    attention: stats?.attention ?? 0,
    paused: stats?.paused ?? 0,
    byHand: stats?.byHand ?? 0,
    ...(oldestDueAt === undefined ? {} : { oldestDueAt }),
    ...(oldestUnfinishedAt === undefined ? {} : { oldestUnfinishedAt }),
  }
}

// The type is right, since the table has an entry for each status.
const NONE_UNFINISHED = Object.fromEntries(UNFINISHED_STATUSES.map((status) => [status, 0])) as Record<
  UnfinishedStatus,
  number
>

function countRefused(nodes: readonly SeenNode[]): OverviewView['refusedSubmits'] {
  const counts = new Map<string, number>()
  for (const { sums } of nodes)
    for (const [code, count] of sums.refused) counts.set(code, (counts.get(code) ?? 0) + count)
  return Array.from(counts, ([code, count]) => ({ code, count }))
    .filter(({ count }) => count > 0)
    .sort((left, right) => right.count - left.count)
}
