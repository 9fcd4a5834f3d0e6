import {
  assert,
  type BranchCaller,
  type CheckUrl,
  type Clock,
  type FindOrigin,
  type Ids,
  type RefuseCall,
  type Store,
  type WakeUpQueue,
} from '@counterstep/core'
import type { EngineApi, EngineHealth } from '../engine-api.ts'
import { healthOf } from '../health.ts'
import { type ObservedStore, observeStore } from '../observed-store.ts'
import type { EngineObserver } from '../observer.ts'
import type { EngineSettings } from '../settings.ts'
import { within } from '../until-definite.ts'
import { Invocation } from './invocation.ts'
import { invocationTime } from './invocation-time.ts'

export interface ServerlessParts {
  readonly store: Store
  readonly branches: BranchCaller
  readonly checkUrl: CheckUrl
  readonly refuseCall?: RefuseCall
  /** What is one target. Default: the origin as the URL has it; a host whose URLs may name services says where these are. */
  readonly findOrigin?: FindOrigin
  /** Origins that the configuration names: each is told apart for good, and leaves the others no more than one of them may have. */
  readonly listedOrigins?: readonly string[]
  readonly wakeUp: WakeUpQueue
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  /** Without `leaseMs` having a meaning: a lease is as long as the invocation, and 5 s. */
  readonly settings: EngineSettings
}

/**
 * The engine of a host that kills: no loops, no renewal, nothing between two invocations. It answers an `EngineApi` so
 * that the same HTTP face stands on it, but only during an invocation.
 */
export interface ServerlessEngine extends EngineApi {
  /**
   * Does `work`, and runs what it has begun while there is time. When this resolves, nothing runs here: what is not
   * final has been given back to the store, and a later look at it was asked for.
   * One invocation at a time; rejects as `work` does, and when that goes on after the end.
   *
   * @param remainingMs until the host kills this invocation.
   */
  during<T>(remainingMs: number, work: (invocation: Invocation) => Promise<T>): Promise<T>
}

export function createServerlessEngine(parts: ServerlessParts): ServerlessEngine {
  return new FunctionEngine(parts)
}

/** For an answer that only waited for the end, and for what the store or a queue answers at once. */
const LATE_MS = 500

async function settledSoon<T>(clock: Clock, working: Promise<T>): Promise<T> {
  const settled = working.then((value) => ({ value }))
  const inTime = await within(clock, LATE_MS, settled)
  if (inTime === undefined) throw new Error('the work has not ended with its invocation')
  return inTime.value
}

class FunctionEngine implements ServerlessEngine {
  readonly #parts: ServerlessParts
  readonly #store: ObservedStore
  #current: Invocation | undefined

  constructor(parts: ServerlessParts) {
    this.#parts = parts
    this.#store = observeStore(parts.store, parts.observer, parts.clock)
  }

  async during<T>(remainingMs: number, work: (invocation: Invocation) => Promise<T>): Promise<T> {
    assert(this.#current === undefined, 'an environment has one invocation at a time')
    const { wakeUp, settings, clock } = this.#parts
    const time = invocationTime(clock.now(), remainingMs, settings.branchTimeoutMs)
    const parts = { ...this.#parts, store: this.#store }
    const invocation = new Invocation(parts, wakeUp, time)
    this.#current = invocation
    try {
      const working = work(invocation)
      await invocation.end(working)
      return await settledSoon(clock, working)
    } finally {
      this.#current = undefined
    }
  }

  submit: EngineApi['submit'] = (body, options) => this.#now.submit(body, options)
  accept: EngineApi['accept'] = (submission, options) => this.#now.accept(submission, options)
  get: EngineApi['get'] = (gid) => this.#now.get(gid)
  read: EngineApi['read'] = (gid) => this.#now.read(gid)
  show: EngineApi['show'] = (gid, caller) => this.#now.show(gid, caller)
  showWhole: EngineApi['showWhole'] = (gid, caller) => this.#now.showWhole(gid, caller)
  list: EngineApi['list'] = (query, caller) => this.#now.list(query, caller)
  registerBranch: EngineApi['registerBranch'] = (gid, body) => this.#now.registerBranch(gid, body)
  addBranch: EngineApi['addBranch'] = (gid, branch) => this.#now.addBranch(gid, branch)
  submitPrepared: EngineApi['submitPrepared'] = (gid, options) => this.#now.submitPrepared(gid, options)
  abort: EngineApi['abort'] = (gid, options) => this.#now.abort(gid, options)
  retry: EngineApi['retry'] = (gid) => this.#now.retry(gid)
  stop: EngineApi['stop'] = (gid) => this.#now.stop(gid)

  get isStopping(): boolean {
    return this.#current?.isStopping ?? false
  }

  health(): EngineHealth {
    const idle = { isStopping: false, inFlight: 0, targetsAtShare: 0 }
    return this.#current?.health() ?? healthOf(this.#store, this.#parts.settings, idle)
  }

  /** There is nothing to end between two invocations. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  get #now(): Invocation {
    assert(this.#current !== undefined, 'nothing runs between two invocations')
    return this.#current
  }
}
