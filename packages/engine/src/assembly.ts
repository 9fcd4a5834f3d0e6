import {
  type BranchCaller,
  type CheckUrl,
  type Clock,
  type FindOrigin,
  FORMAT,
  type Ids,
  READ_MANY_MAX,
  type RefuseCall,
  type RunSettings,
  StoreUnavailableError,
} from '@counterstep/core'
import type { Gid, TransactionView } from '@counterstep/protocol'
import { Acceptance } from './acceptance.ts'
import { AlarmClock } from './alarm-clock.ts'
import { Bulkhead } from './bulkhead/bulkhead.ts'
import { Commands } from './commands.ts'
import { findOriginOfUrl } from './find-origin.ts'
import { LargeTurns } from './large-turns.ts'
import { Looks } from './looks.ts'
import type { ObservedStore } from './observed-store.ts'
import type { EngineObserver } from './observer.ts'
import { type GivenBack, type OwnCalls, Runner } from './runner.ts'
import type { EngineSettings } from './settings.ts'
import type { Figures } from './statistics/figures.ts'
import type { EngineTracer } from './tracer.ts'
import { viewRow } from './view-row.ts'
import { type LookUp, Waiters } from './waiters.ts'
import { Watch } from './watch/watch.ts'

export interface AssemblyParts {
  readonly store: ObservedStore
  readonly branches: BranchCaller
  readonly checkUrl: CheckUrl
  readonly refuseCall?: RefuseCall
  readonly findOrigin?: FindOrigin
  readonly listedOrigins?: readonly string[]
  readonly plainIds?: boolean
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly tracer?: EngineTracer
  readonly figures: Figures
  readonly settings: EngineSettings
  /** Says which calls are made here. By default all are. */
  readonly ownCalls?: OwnCalls
  /** Tells whether a caller may wait for a transaction that does not run here. By default it may. */
  readonly mayWaitFor?: (gid: Gid) => boolean
  /** Reads the node's wall clock. The default is that of the system. */
  readonly readEpochMs?: () => number
}

/**
 * Callbacks from the shared parts to the node's loops, or to one invocation
 * of a function. Instants are by this node's clock.
 */
export interface RunnerCallbacks {
  /** The transaction is final, and that is durable. */
  readonly onFinished: (gid: Gid) => void
  /** The transaction goes on, but this node does not run it any more. */
  readonly onGivenBack: (gid: Gid, givenBack: GivenBack) => void
  /** The transaction is stored and not started yet. */
  readonly onWaiting: (gid: Gid, dueAt: number, submitter: string | undefined) => void
  /** A command has made a transaction due that no node runs. */
  readonly onDue: (gid: Gid) => void
}

/** The parts that every engine has, whether or not it has loops. */
export interface Assembly extends AssemblyParts {
  /** Reads the store's clock as it was last told, and this node's before that. */
  readonly readEpochMs: () => number
  readonly run: RunSettings
  readonly formatMax: number
  readonly alarms: AlarmClock
  readonly runner: Runner
  readonly acceptance: Acceptance
  readonly commands: Commands
  readonly waiters: Waiters
  readonly bulkhead: Bulkhead
  readonly watch: Watch
  readonly looks: Looks
  readonly largeTurns: LargeTurns
}

/**
 * Tells whether a row that was given back is never older than what its next owner has saved. A failover that loses the last
 * writes may bring back a row as it was before the calls that were sent since.
 */
function keepsItsTail({ durabilityClass, failover }: ObservedStore): boolean {
  return durabilityClass === 'A' && failover !== 'lossy'
}

export function assemble(parts: AssemblyParts, callbacks: RunnerCallbacks): Assembly {
  const { clock, observer, settings, store, readEpochMs: readWallClock = Date.now } = parts
  // Due times and deadlines are by the store's clock, and this node's may be wrong.
  const readEpochMs = () => store.readNow() ?? readWallClock()
  const run: RunSettings = {
    leaseMs: settings.leaseMs,
    holdMs: settings.holdMs,
    retentionMs: settings.retentionMs,
    releaseKeepsSentList: keepsItsTail(store),
  }
  const alarms = new AlarmClock(clock)
  const bulkhead = new Bulkhead({
    settings,
    findOrigin: parts.findOrigin ?? findOriginOfUrl,
    listedOrigins: parts.listedOrigins ?? [],
    clock,
    alarms,
    observer,
  })
  const looks = new Looks({ store, clock, settings, later: () => ({ runner, acceptance }) })
  const largeTurns = new LargeTurns(clock, store)
  const watch = new Watch({
    ...{ store, clock, observer },
    show: (gid, caller) => looks.show(gid, caller),
  })
  const common = { ...settings, ...parts, readEpochMs, run, formatMax: FORMAT, alarms, bulkhead, watch }
  const runner = new Runner({
    ...common,
    onFinished: (gid, view) => {
      waiters.settleFinished(gid, view)
      if (watch.isOpen) watch.reportFresh(gid)
      callbacks.onFinished(gid)
    },
    onGivenBack: (gid, givenBack) => {
      const { dueAt } = givenBack
      callbacks.onGivenBack(gid, givenBack)
      if (watch.isOpen) watch.reportChange(gid)
      if (dueAt !== undefined) waiters.settleIdle(gid, dueAt)
      waiters.watch(gid)
    },
  })
  const waiters = new Waiters(
    clock,
    settings.waitersMax,
    (gid) => runner.isRunning(gid),
    createLookUp(store, observer),
    parts.mayWaitFor,
  )
  const { onDue } = callbacks
  const onWaiting: RunnerCallbacks['onWaiting'] = (gid, dueAt, submitter) => {
    callbacks.onWaiting(gid, dueAt, submitter)
    waiters.settleIdle(gid, dueAt)
  }
  const acceptance = new Acceptance({ ...common, runner, onWaiting })
  const commands = new Commands({ ...common, runner, acceptance, largeTurns, onDue })
  const built = { alarms, runner, acceptance, commands, waiters, bulkhead, watch, looks, largeTurns }
  return { ...parts, readEpochMs, run, formatMax: FORMAT, ...built }
}

/** So many rows that have ended are read and decoded at once for those who wait. Each may be of 1 MB. */
const LOOK_UP_ROWS = 16

/** Returns a function that reads final views. A store that is down delays the answer, but does not fail the wait. */
function createLookUp(store: ObservedStore, observer: EngineObserver): LookUp {
  return async function lookUp(gids) {
    const final: TransactionView[] = []
    try {
      for (let from = 0; from < gids.length; from += READ_MANY_MAX) {
        const ended = await store.findFinal(gids.slice(from, from + READ_MANY_MAX))
        if (ended.length === 0) continue
        const views: TransactionView[] = []
        for (let read = 0; read < ended.length; read += LOOK_UP_ROWS) {
          const rows = await store.readMany(ended.slice(read, read + LOOK_UP_ROWS))
          for (const row of rows) views.push(viewRow(row))
        }
        // An end is told only when it cannot be lost any more.
        await store.settle()
        final.push(...views)
      }
    } catch (error: unknown) {
      // A bug ends this read, not the process. The waits end by their own time limits.
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'look-up-failed', error })
    }
    return final
  }
}
