import type { BranchCaller, CheckUrl, Clock, FindOrigin, Ids, RefuseCall, Store } from '@counterstep/core'
import { type AlertOptions, listAlertServices } from './alerts/alert-options.ts'
import { AlertWatcher } from './alerts/alert-watcher.ts'
import { assemble } from './assembly.ts'
import { type BulkApi, BulkJobs } from './bulk/bulk-jobs.ts'
import { BulkWorker } from './bulk/bulk-worker.ts'
import { giveBulkCommand } from './bulk/give-bulk-command.ts'
import { DueRows } from './due-rows.ts'
import type { EngineApi, EngineHealth } from './engine-api.ts'
import type { DueRow } from './far-rows.ts'
import { readHealth } from './health.ts'
import type { EngineObserver } from './observer.ts'
import { Purge } from './purge.ts'
import { Recovery } from './recovery.ts'
import { Renewal } from './renewal.ts'
import { Requests } from './requests.ts'
import type { EngineSettings } from './settings.ts'
import { type NodeFacts, type NodeMemory, openNodeMemory } from './statistics/node-memory.ts'
import { findLoads } from './statistics/node-sums.ts'
import type { EngineTracer } from './tracer.ts'
import { within } from './until-definite.ts'
import { type SavedViewsApi, ViewDocuments } from './views/saved-views.ts'
import type { Watch } from './watch/watch.ts'

export interface EngineParts {
  readonly store: Store
  readonly branches: BranchCaller
  /**
   * Checks at submit whether a branch URL may be called. The arguments of `accept` and `addBranch` are checked already.
   */
  readonly checkUrl: CheckUrl
  /** It is asked before each call. By default every call may be made. */
  readonly refuseCall?: RefuseCall
  /**
   * Finds the target of a URL. By default this is the URL's origin. A host
   * whose URLs may name services finds their origins.
   */
  readonly findOrigin?: FindOrigin
  /**
   * The origins that the configuration names. Each has its own counters for good, and
   * all others together get no more places than one of these.
   */
  readonly listedOrigins?: readonly string[]
  /**
   * Tells whether ids are refused that DTM's own barriers in services could confuse with others. The default is
   * false.
   */
  readonly plainIds?: boolean
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  /** Absent: the traces of callers are handed on, and no spans are made. */
  readonly tracer?: EngineTracer
  readonly settings: EngineSettings
  /** The node is told to the others under this name, and shown. Absent: it is told to none. */
  readonly node?: NodeFacts
  /** Reads the epoch time of the statistics in milliseconds. The default is the system's. */
  readonly readEpochMs?: () => number
  /** Who is told what. Absent: nothing is told. */
  readonly alerts?: AlertOptions
}

export interface Engine extends EngineApi {
  readonly bulk: BulkApi
  /**
   * Starts the loops: recovery of due rows, lease renewal and purge. It resolves when due rows have been claimed once.
   */
  start(): Promise<void>
}

export function createEngine(parts: EngineParts): Engine {
  return new NodeEngine(parts)
}

const CLOSE_LIMIT_MS = 8_000
/** The part of the closing time that is kept for giving back transactions whose calls are still in flight. */
const HAND_BACK_MS = 2_000
/**
 * The part of the closing time that is kept for calls under way. The rest is for accepts, because giving up an accept
 * leaves its caller without an answer.
 */
const CALLS_MS = 2_000
/** The least time for accepts, if the closing time is that long. */
const FLUSH_MS_MIN = 2_000

/** The engine of a process that stays up. Its loops claim due rows, renew leases and purge. */
class NodeEngine extends Requests implements Engine {
  readonly #recovery: Recovery
  readonly #renewal: Renewal
  readonly #purge: Purge
  readonly #memory: NodeMemory
  readonly #bulkWorker: BulkWorker
  readonly #alerts: AlertWatcher | undefined
  readonly bulk: BulkApi
  readonly views: SavedViewsApi
  #closing: Promise<void> | undefined

  constructor(parts: EngineParts) {
    const { clock, settings, alerts } = parts
    const memory = openNodeMemory({
      ...parts,
      ...(alerts === undefined ? {} : { alertServices: listAlertServices(alerts) }),
      readLoad: () => this.#readLoad(parts.branches),
    })
    const { observer, store, figures } = memory
    const assembly = assemble(
      { ...parts, observer, store, figures },
      {
        onFinished: (gid) => this.#recovery.freeRoom(gid),
        onGivenBack: (gid, { dueAt, retriesAt, submitter }) => {
          const target = retriesAt?.isListed === true ? retriesAt.name : undefined
          if (dueAt !== undefined) waitUntilDue({ gid, dueAt, submitter, target })
          this.#recovery.freeRoom(gid)
        },
        onWaiting: (gid, dueAt, submitter) => waitUntilDue({ gid, dueAt, submitter, target: undefined }),
        onDue: (gid) => this.#recovery.takeCommanded(gid),
      },
    )
    super(assembly)
    const { runner } = assembly
    const dueRows = new DueRows(clock, assembly.alarms, (gid) => this.#recovery.takeDue(gid))
    const waitUntilDue = (row: DueRow) => {
      this.#recovery.hint(row.dueAt)
      dueRows.add(row)
    }
    this.#memory = memory
    const renewal = new Renewal(store, runner, clock, observer, settings.leaseMs)
    this.#renewal = renewal
    this.#recovery = new Recovery({
      ...settings,
      ...assembly,
      inFlightMax: settings.recoveryInFlightMax,
      renewExpired: () => renewal.renewExpired(),
    })
    this.#purge = new Purge(store, clock, observer)
    const { ids } = parts
    const worker = new BulkWorker({
      ...{ store, clock, ids, observer, now: assembly.readEpochMs, nodeId: ids.token() },
      give: (gid, job) => giveBulkCommand(this, gid, job),
    })
    this.#bulkWorker = worker
    this.bulk = new BulkJobs({
      ...{ store, ids, now: assembly.readEpochMs },
      list: (query, caller) => this.list(query, caller),
      looks: assembly.looks,
      onChange: () => worker.lookNow(),
    })
    this.views = new ViewDocuments(store, ids, Date.now, assembly.looks)
    this.#alerts = alerts === undefined ? undefined : this.#createWatcher(parts, alerts)
  }

  #createWatcher({ branches, ids }: EngineParts, options: AlertOptions): AlertWatcher {
    return new AlertWatcher({
      ...{ ...this.assembly, options, branches, ids, bulk: this.bulk },
      accept: (submission) => this.accept(submission),
      list: (query, caller) => this.list(query, caller),
      stop: (gid, given) => this.stop(gid, given),
    })
  }

  async start(): Promise<void> {
    this.#renewal.start()
    this.assembly.store.onCommand?.((gid) => this.#renewal.renewCommanded(gid))
    this.#purge.start()
    this.#memory.start()
    this.#bulkWorker.start()
    this.#alerts?.start()
    await this.#recovery.start()
  }

  get watch(): Pick<Watch, 'open'> {
    return this.assembly.watch
  }

  get isStopping(): boolean {
    return this.#closing !== undefined
  }

  health(): EngineHealth {
    const { store, runner, acceptance, settings, bulkhead } = this.assembly
    return readHealth(store, settings, {
      isStopping: this.isStopping,
      inFlight: runner.size + acceptance.size,
      targetsAtShare: bulkhead.targetsAtShare,
    })
  }

  #readLoad(branches: BranchCaller) {
    const { inFlight, inFlightMax } = this.health()
    const loads = findLoads(this.assembly.bulkhead.origins(), branches.loads?.() ?? [])
    return { inFlight, inFlightMax, loads }
  }

  close(limitMs = CLOSE_LIMIT_MS): Promise<void> {
    this.#closing ??= this.#close(limitMs)
    return this.#closing
  }

  async #close(limitMs: number): Promise<void> {
    const { clock, acceptance, runner, waiters, alarms } = this.assembly
    const until = clock.now() + limitMs
    const left = () => Math.max(0, until - clock.now())
    this.#purge.stop()
    const forgotten = this.#memory.stop()
    this.assembly.watch.end()
    this.#bulkWorker.stop()
    this.#alerts?.stop()
    // A store that hangs must not delay the end.
    await within(clock, Math.min(left(), HAND_BACK_MS), this.#recovery.stop())
    await acceptance.close(Math.min(left(), Math.max(FLUSH_MS_MIN, left() - CALLS_MS - HAND_BACK_MS)))
    runner.drain('when-calls-end')
    await within(clock, Math.max(0, left() - HAND_BACK_MS), runner.empty())
    runner.drain('now')
    await within(clock, left(), runner.empty())
    runner.close()
    waiters.stop()
    this.#renewal.stop()
    alarms.stop()
    await forgotten
  }
}
