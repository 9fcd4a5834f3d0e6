import {
  type BranchCaller,
  type CheckUrl,
  type Clock,
  type FindOrigin,
  FORMAT,
  type Ids,
  type RefuseCall,
  type RunSettings,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { Acceptance } from './acceptance.ts'
import { AlarmClock } from './alarm-clock.ts'
import { Bulkhead } from './bulkhead/bulkhead.ts'
import { Commands } from './commands.ts'
import { findOriginOfUrl } from './find-origin.ts'
import { lookUpIn } from './look-up.ts'
import type { ObservedStore } from './observed-store.ts'
import type { EngineObserver } from './observer.ts'
import { Runner } from './runner.ts'
import type { EngineSettings } from './settings.ts'
import { Waiters } from './waiters.ts'

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
  readonly settings: EngineSettings
}

/** What drives the transactions hears of these; instants are of this node's clock. */
export interface Drive {
  /** Final and durable. */
  readonly onFinished: (gid: Gid) => void
  /** Not run here any more, though it goes on; due again then, if known. */
  readonly onGivenBack: (gid: Gid, dueAt: number | undefined) => void
  /** Stored, and not started yet. */
  readonly onWaiting: (gid: Gid, dueAt: number) => void
  /** Nobody runs it, and it has become due by a command. */
  readonly onDue: (gid: Gid) => void
}

/** The parts that every engine has, with loops or without. */
export interface Assembly extends AssemblyParts {
  readonly run: RunSettings
  readonly formatMax: number
  readonly alarms: AlarmClock
  readonly runner: Runner
  readonly acceptance: Acceptance
  readonly commands: Commands
  readonly waiters: Waiters
  readonly bulkhead: Bulkhead
}

export function assemble(parts: AssemblyParts, drive: Drive): Assembly {
  const { clock, observer, settings, store } = parts
  const run: RunSettings = {
    leaseMs: settings.leaseMs,
    holdMs: settings.holdMs,
    retentionMs: settings.retentionMs,
    releaseKeepsSentList: store.durabilityClass === 'A',
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
  const common = { ...settings, ...parts, run, formatMax: FORMAT, alarms, bulkhead }
  const runner = new Runner({
    ...common,
    onFinished: (gid, view) => {
      waiters.finished(gid, view)
      drive.onFinished(gid)
    },
    onGivenBack: (gid, dueAt) => {
      drive.onGivenBack(gid, dueAt)
      if (dueAt !== undefined) waiters.idleUntil(gid, dueAt)
      waiters.watch(gid)
    },
  })
  const waiters = new Waiters(
    clock,
    settings.waitersMax,
    (gid) => runner.holds(gid),
    lookUpIn(store, observer),
  )
  const { onDue } = drive
  const onWaiting: Drive['onWaiting'] = (gid, dueAt) => {
    drive.onWaiting(gid, dueAt)
    waiters.idleUntil(gid, dueAt)
  }
  const acceptance = new Acceptance({ ...common, runner, onWaiting })
  const commands = new Commands({ ...common, runner, acceptance, onDue })
  return { ...parts, run, formatMax: FORMAT, alarms, runner, acceptance, commands, waiters, bulkhead }
}
