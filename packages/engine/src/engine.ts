import type { BranchCaller, CheckUrl, Clock, FindOrigin, Ids, RefuseCall, Store } from '@counterstep/core'
import { assemble } from './assembly.ts'
import type { EngineApi, EngineHealth } from './engine-api.ts'
import { healthOf } from './health.ts'
import { observeStore } from './observed-store.ts'
import type { EngineObserver } from './observer.ts'
import { Purge } from './purge.ts'
import { Recovery } from './recovery.ts'
import { Renewal } from './renewal.ts'
import { Requests } from './requests.ts'
import type { EngineSettings } from './settings.ts'
import { tellOutages } from './tell-outages.ts'
import { within } from './until-definite.ts'

export interface EngineParts {
  readonly store: Store
  readonly branches: BranchCaller
  /** Whether a branch may be called there; asked at submit. What `accept` and `addBranch` are given is checked already. */
  readonly checkUrl: CheckUrl
  /** Asked before each call. Default: every call may be made. */
  readonly refuseCall?: RefuseCall
  /** What is one target. Default: the origin as the URL has it; a host whose URLs may name services says where these are. */
  readonly findOrigin?: FindOrigin
  /** Origins that the configuration names: each is told apart for good, and leaves the others no more than one of them may have. */
  readonly listedOrigins?: readonly string[]
  /** Refuse ids that DTM's own barriers in services could take for others. Default: false. */
  readonly plainIds?: boolean
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly settings: EngineSettings
}

export interface Engine extends EngineApi {
  /** Starts the loops: recovery of what is due, lease renewal, purge. Resolves when what is due has been asked for once. */
  start(): Promise<void>
}

export function createEngine(parts: EngineParts): Engine {
  return new NodeEngine(parts)
}

const CLOSE_LIMIT_MS = 8_000
/** Kept of the closing time for giving back what still has calls in flight. */
const HAND_BACK_MS = 2_000
/** Kept for calls under way. The rest is for accepts: one that is given up leaves its caller without an answer. */
const CALLS_MS = 2_000
/** What accepts have in any case, if the closing time is that long. */
const FLUSH_MS_MIN = 2_000

/** A process that goes on: its loops find what is due, renew leases and purge. */
class NodeEngine extends Requests implements Engine {
  readonly #recovery: Recovery
  readonly #renewal: Renewal
  readonly #purge: Purge
  #closing: Promise<void> | undefined

  constructor(parts: EngineParts) {
    const { clock, settings } = parts
    const observer = tellOutages(parts.observer, clock)
    const assembly = assemble(
      { ...parts, observer, store: observeStore(parts.store, observer, clock) },
      {
        onFinished: (gid) => this.#recovery.roomFreed(gid),
        onGivenBack: (gid, dueAt) => {
          if (dueAt !== undefined) this.#recovery.hint(dueAt)
          this.#recovery.roomFreed(gid)
        },
        onWaiting: (_gid, dueAt) => this.#recovery.hint(dueAt),
        onDue: (gid) => this.#recovery.takeCommanded(gid),
      },
    )
    super(assembly)
    const { store, runner } = assembly
    const renewal = new Renewal(store, runner, clock, observer, settings.leaseMs)
    this.#renewal = renewal
    this.#recovery = new Recovery({
      ...settings,
      ...assembly,
      inFlightMax: settings.recoveryInFlightMax,
      renewExpired: () => renewal.renewExpired(),
    })
    this.#purge = new Purge(store, clock, observer)
  }

  async start(): Promise<void> {
    this.#renewal.start()
    this.#purge.start()
    await this.#recovery.start()
  }

  get isStopping(): boolean {
    return this.#closing !== undefined
  }

  health(): EngineHealth {
    const { store, runner, acceptance, settings, bulkhead } = this.assembly
    return healthOf(store, settings, {
      isStopping: this.isStopping,
      inFlight: runner.size + acceptance.size,
      targetsAtShare: bulkhead.targetsAtShare,
    })
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
    // A store that hangs must not hold up the end.
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
  }
}
