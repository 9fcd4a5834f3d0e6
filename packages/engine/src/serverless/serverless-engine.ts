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
import { readHealth } from '../health.ts'
import { type ObservedStore, observeStore } from '../observed-store.ts'
import type { EngineObserver } from '../observer.ts'
import type { EngineSettings } from '../settings.ts'
import { Figures } from '../statistics/figures.ts'
import { NodeStatistics } from '../statistics/node-statistics.ts'
import { StoreReader } from '../statistics/store-reader.ts'
import { within } from '../until-definite.ts'
import { Invocation, type InvocationParts } from './invocation.ts'
import { type InvocationTime, planInvocationTime, planQuickTime } from './invocation-time.ts'
import { SlowTargets } from './slow-targets.ts'

export interface ServerlessParts {
  readonly store: Store
  readonly branches: BranchCaller
  readonly checkUrl: CheckUrl
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
  readonly wakeUp: WakeUpQueue
  /**
   * A branch call may hold an invocation for at most this long. One that takes longer is cut and left to a function
   * without this bound, by a wake-up request that is marked as slow. Absent: every call may take its own time here.
   */
  readonly quickCallMs?: number | undefined
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  /** `leaseMs` has no effect, because a lease is 5 s longer than the rest of the invocation. */
  readonly settings: EngineSettings
}

/**
 * The engine of a host that stops or kills the process after each invocation, such as a function. It has no loops and
 * no renewal, and nothing runs between two invocations. It is an `EngineApi`, so the same HTTP API works on it, but
 * only during an invocation.
 */
export interface ServerlessEngine extends EngineApi {
  /**
   * Does `work`, and runs the transactions that it has started while there is time. When this resolves, nothing runs
   * here: transactions that are not final have been given back to the store, and wake-ups were requested for them.
   * There is one invocation at a time. It rejects when `work` rejects, and when `work` goes on after the end.
   *
   * @param remainingMs is the time until the host kills this invocation.
   */
  during<T>(remainingMs: number, work: (invocation: Invocation) => Promise<T>): Promise<T>
}

export function createServerlessEngine(parts: ServerlessParts): ServerlessEngine {
  return new FunctionEngine(parts)
}

/** The time that `work` has after the end, for a last answer of the store or of a queue. */
const LATE_MS = 500

async function settleSoon<T>(clock: Clock, working: Promise<T>): Promise<T> {
  const settled = working.then((value) => ({ value }))
  const inTime = await within(clock, LATE_MS, settled)
  if (inTime === undefined) throw new Error('the work has not ended with its invocation')
  return inTime.value
}

class FunctionEngine implements ServerlessEngine {
  readonly #parts: ServerlessParts
  readonly #store: ObservedStore
  readonly #figures: Figures
  readonly #slowTargets: SlowTargets | undefined
  #current: Invocation | undefined

  constructor(parts: ServerlessParts) {
    this.#parts = parts
    this.#store = observeStore(parts.store, parts.observer, parts.clock)
    this.#figures = openFunctionFigures(this.#store, parts)
    const { quickCallMs, clock } = parts
    this.#slowTargets =
      quickCallMs === undefined ? undefined : new SlowTargets(() => clock.now(), quickCallMs)
  }

  async during<T>(remainingMs: number, work: (invocation: Invocation) => Promise<T>): Promise<T> {
    assert(this.#current === undefined, 'an environment has one invocation at a time')
    const { clock, settings } = this.#parts
    const now = clock.now()
    const time = planInvocationTime(now, remainingMs, settings.branchTimeoutMs)
    const quick = this.#planQuick(now, time)
    const parts = { ...this.#parts, store: this.#store, figures: this.#figures }
    const invocation = new Invocation({ ...parts, time, quick })
    this.#current = invocation
    try {
      const working = work(invocation)
      await invocation.end(working)
      return await settleSoon(clock, working)
    } finally {
      this.#current = undefined
    }
  }

  #planQuick(now: number, time: InvocationTime): InvocationParts['quick'] {
    const { quickCallMs, settings } = this.#parts
    if (quickCallMs === undefined || this.#slowTargets === undefined) return undefined
    const quickTime = planQuickTime(now, time, settings.branchTimeoutMs, quickCallMs)
    return { time: quickTime, slowTargets: this.#slowTargets }
  }

  submit: EngineApi['submit'] = (body, options) => this.#now.submit(body, options)
  accept: EngineApi['accept'] = (submission, options) => this.#now.accept(submission, options)
  get: EngineApi['get'] = (gid) => this.#now.get(gid)
  read: EngineApi['read'] = (gid) => this.#now.read(gid)
  show: EngineApi['show'] = (gid, caller) => this.#now.show(gid, caller)
  showWhole: EngineApi['showWhole'] = (gid, caller) => this.#now.showWhole(gid, caller)
  readWhole: EngineApi['readWhole'] = (gid, caller) => this.#now.readWhole(gid, caller)
  waitForTurn: EngineApi['waitForTurn'] = (...asked) => this.#now.waitForTurn(...asked)
  list: EngineApi['list'] = (query, caller) => this.#now.list(query, caller)
  problems: EngineApi['problems'] = () => this.#now.problems()
  registerBranch: EngineApi['registerBranch'] = (gid, body) => this.#now.registerBranch(gid, body)
  addBranch: EngineApi['addBranch'] = (gid, branch) => this.#now.addBranch(gid, branch)
  addRecord: EngineApi['addRecord'] = (gid, record) => this.#now.addRecord(gid, record)
  endRecorded: EngineApi['endRecorded'] = (gid, end) => this.#now.endRecorded(gid, end)
  submitPrepared: EngineApi['submitPrepared'] = (gid, options) => this.#now.submitPrepared(gid, options)
  abort: EngineApi['abort'] = (gid, options) => this.#now.abort(gid, options)
  signal: EngineApi['signal'] = (gid, name, body) => this.#now.signal(gid, name, body)
  retry: EngineApi['retry'] = (...asked) => this.#now.retry(...asked)
  retryOp: EngineApi['retryOp'] = (...asked) => this.#now.retryOp(...asked)
  pause: EngineApi['pause'] = (...asked) => this.#now.pause(...asked)
  resume: EngineApi['resume'] = (...asked) => this.#now.resume(...asked)
  stop: EngineApi['stop'] = (...asked) => this.#now.stop(...asked)
  skip: EngineApi['skip'] = (...asked) => this.#now.skip(...asked)
  edit: EngineApi['edit'] = (...asked) => this.#now.edit(...asked)
  preview: EngineApi['preview'] = (...asked) => this.#now.preview(...asked)
  showRequest: EngineApi['showRequest'] = (gid, caller) => this.#now.showRequest(gid, caller)

  overview: EngineApi['overview'] = () => this.#figures.overview()
  services: EngineApi['services'] = () => this.#figures.services()
  names: EngineApi['names'] = () => this.#figures.names()
  readStats: EngineApi['readStats'] = () => this.#figures.readStats()

  get isStopping(): boolean {
    return this.#current?.isStopping ?? false
  }

  health(): EngineHealth {
    const idle = { isStopping: false, inFlight: 0, targetsAtShare: 0 }
    return this.#current?.health() ?? readHealth(this.#store, this.#parts.settings, idle)
  }

  /** Resolves at once, because nothing runs between two invocations. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  get #now(): Invocation {
    assert(this.#current !== undefined, 'nothing runs between two invocations')
    return this.#current
  }
}

/** A function counts nothing, since an environment lives too short. It shows the figures of the store. */
function openFunctionFigures(store: ObservedStore, { clock, settings }: ServerlessParts): Figures {
  return new Figures({
    statistics: new NodeStatistics(Date.now),
    store,
    storeReader: new StoreReader(store, clock, Date.now),
    reports: undefined,
    readState: () => ({
      ...{ id: 'function', version: '', inFlight: 0, loopP99Ms: 0, loads: [] },
      inFlightMax: settings.inFlightMax,
    }),
  })
}
