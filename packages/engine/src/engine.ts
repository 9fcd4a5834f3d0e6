import {
  type BranchCaller,
  type Clock,
  type Command,
  decodeTransaction,
  FORMAT,
  firstStatus,
  type Ids,
  type ListQuery,
  mayShow,
  parseRegistration,
  parseSubmission,
  READ_MANY_MAX,
  type RunSettings,
  type Store,
  type StoredTransaction,
  StoreUnavailableError,
  type Submission,
  type SubmissionDefaults,
  type TccBranch,
  type Transaction,
} from '@counterstep/core'
import {
  CounterstepError,
  type Gid,
  InvalidRequestError,
  isCounterstepError,
  isFinalStatus,
  type SubmitView,
  type TransactionView,
} from '@counterstep/protocol'
import { Acceptance, type Accepted, type NamedSubmission } from './acceptance.ts'
import { AlarmClock } from './alarm-clock.ts'
import { urlChecker } from './check-url.ts'
import { Commands } from './commands.ts'
import type { AbortOptions, EngineApi, EngineHealth, WaitOptions } from './engine-api.ts'
import { type ObservedStore, observeStore } from './observed-store.ts'
import type { EngineObserver } from './observer.ts'
import { Purge } from './purge.ts'
import { Recovery } from './recovery.ts'
import { Renewal } from './renewal.ts'
import { Runner } from './runner.ts'
import type { EngineSettings } from './settings.ts'
import { within } from './until-definite.ts'
import { viewRow } from './view-row.ts'
import { Waiters } from './waiters.ts'

export interface EngineParts {
  readonly store: Store
  readonly branches: BranchCaller
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
  return new AssembledEngine(parts)
}

const CLOSE_LIMIT_MS = 8_000
/** Kept of the closing time for giving back what still has calls in flight. */
const HAND_BACK_MS = 2_000

class AssembledEngine implements Engine {
  readonly #parts: EngineParts
  readonly #store: ObservedStore
  readonly #checkUrl = urlChecker()
  readonly #alarms: AlarmClock
  readonly #runner: Runner
  readonly #acceptance: Acceptance
  readonly #commands: Commands
  readonly #recovery: Recovery
  readonly #renewal: Renewal
  readonly #purge: Purge
  readonly #waiters: Waiters
  #closing = false

  constructor(parts: EngineParts) {
    const { clock, ids, observer, settings, branches } = parts
    const store = observeStore(parts.store, observer, clock)
    const run: RunSettings = {
      leaseMs: settings.leaseMs,
      holdMs: settings.holdMs,
      retentionMs: settings.retentionMs,
      releaseKeepsSentList: store.durabilityClass === 'A',
    }
    const common = { ...settings, store, clock, ids, observer, branches, run, formatMax: FORMAT }
    this.#parts = parts
    this.#store = store
    this.#alarms = new AlarmClock(clock)
    const runner = new Runner({
      ...common,
      alarms: this.#alarms,
      onFinished: (gid, view) => this.#finished(gid, view),
      onGivenBack: (gid, dueAt) => this.#givenBack(gid, dueAt),
    })
    this.#runner = runner
    const renewal = new Renewal(store, runner, clock, observer, settings.leaseMs)
    this.#renewal = renewal
    this.#recovery = new Recovery({
      ...common,
      runner,
      inFlightMax: settings.recoveryInFlightMax,
      renewExpired: () => renewal.renewExpired(),
    })
    const onWaiting = (dueAt: number) => this.#recovery.hint(dueAt)
    this.#acceptance = new Acceptance({
      ...common,
      runner,
      recovered: () => this.#recovery.inFlight,
      onWaiting,
    })
    this.#commands = new Commands({
      ...common,
      runner,
      acceptance: this.#acceptance,
      onDue: () => onWaiting(clock.now()),
    })
    this.#purge = new Purge(store, clock, observer)
    this.#waiters = new Waiters(
      clock,
      settings.waitersMax,
      (gid) => runner.holds(gid),
      (gids) => this.#lookUp(gids),
    )
  }

  async start(): Promise<void> {
    this.#renewal.start()
    this.#purge.start()
    await this.#recovery.start()
  }

  async submit(body: unknown, options: WaitOptions = {}): Promise<SubmitView> {
    try {
      if (this.#closing) throw new CounterstepError('SAGA_STOPPING', 'this node is stopping')
      const parsed = parseSubmission(body, this.#defaults(), this.#checkUrl)
      if (parsed.type === 'refused') throw new InvalidRequestError(parsed.faults)
      return await this.#accept(parsed.submission, options)
    } catch (error: unknown) {
      throw this.#refused(error)
    }
  }

  async accept(submission: Submission, options: WaitOptions = {}): Promise<SubmitView> {
    try {
      if (this.#closing) throw new CounterstepError('SAGA_STOPPING', 'this node is stopping')
      return await this.#accept(submission, options)
    } catch (error: unknown) {
      throw this.#refused(error)
    }
  }

  #accept(given: Submission, { waitMs = 0 }: WaitOptions): Promise<SubmitView> {
    // A caller who waits is told about what is durable only.
    const submission = waitMs > 0 ? { ...given, ack: 'durable' as const } : given
    const gid = submission.gid ?? this.#parts.ids.gid()
    return this.#submitAndWait({ ...submission, gid }, waitMs)
  }

  #refused(error: unknown): unknown {
    if (isCounterstepError(error)) this.#parts.observer.refused(error.code)
    return error
  }

  #defaults(): SubmissionDefaults {
    const { retry, branchTimeoutMs, checkpointMs } = this.#parts.settings
    return { retry, timeoutMs: branchTimeoutMs, checkpointMs }
  }

  async #submitAndWait(submission: NamedSubmission, waitMs: number): Promise<SubmitView> {
    const { gid } = submission
    // Opened before the accept: the end may come before the accept's answer is seen here.
    // A prepared one waits for its client, who is this caller.
    const waits = waitMs > 0 && firstStatus(submission.definition) !== 'prepared'
    const waiter = waits ? this.#waiters.open(gid, waitMs) : undefined
    try {
      const accepted = await this.#acceptance.submit(submission)
      if (waiter === undefined) return answerOf(await this.#present(accepted), accepted)
      // One that was there before may have ended before anybody waited.
      const before = accepted.view === undefined ? await this.#present(accepted) : undefined
      if (before !== undefined && !isWaitedFor(before)) return answerOf(before, accepted)
      if (!this.#runner.holds(gid)) this.#waiters.watch(gid)
      const now = (await waiter.outcome) ?? (await this.#presentNow(gid)) ?? before
      return answerOf(now ?? (await this.#present(accepted)), accepted)
    } finally {
      waiter?.cancel()
    }
  }

  async #present({ gid, view }: Accepted): Promise<TransactionView> {
    if (view !== undefined) return view()
    const { clock, settings } = this.#parts
    const seen = await within(clock, settings.storeTimeoutMs, this.get(gid))
    if (seen !== undefined) return seen
    throw new CounterstepError(
      'SAGA_OUTCOME_UNKNOWN',
      `${gid} is there, and cannot be read: submit the same again`,
    )
  }

  /** Undefined when the store does not say in time. */
  async #presentNow(gid: Gid): Promise<TransactionView | undefined> {
    const { clock, settings, observer } = this.#parts
    try {
      return await within(clock, settings.storeTimeoutMs, this.get(gid))
    } catch (error: unknown) {
      if (!(error instanceof StoreUnavailableError)) throw error
      observer.event({ level: 'warn', name: 'look-up-failed', gid, error })
      return undefined
    }
  }

  async get(gid: Gid): Promise<TransactionView | undefined> {
    const { capabilities } = this.#store
    if (!capabilities.shared && this.#maySee(gid)) return this.#runner.view(gid)
    const [row] = await this.#store.readMany([gid])
    // It may have been accepted, or have ended here, while the store was read.
    if (row === undefined) return this.#runner.view(gid) ?? this.#acceptance.pendingView(gid)
    return this.#maySee(gid, row) ? this.#runner.view(gid) : viewRow(row)
  }

  /** Whether what runs here is at least as new as the row: another node's command may have been seen there before. */
  #maySee(gid: Gid, row?: StoredTransaction): boolean {
    const run = this.#runner.get(gid)
    if (run === undefined || !mayShow(run, this.#parts.clock.now())) return false
    return row === undefined || (run.token === row.token && run.version >= row.version)
  }

  list(query: ListQuery): ReturnType<EngineApi['list']> {
    return this.#store.list(query)
  }

  async read(gid: Gid): Promise<Transaction | undefined> {
    const [row] = await this.#store.readMany([gid])
    return row === undefined ? undefined : decodeTransaction(row)
  }

  registerBranch(gid: Gid, body: unknown): Promise<TransactionView> {
    const parsed = parseRegistration(body, this.#defaults(), this.#checkUrl)
    if (parsed.type === 'refused') return Promise.reject(new InvalidRequestError(parsed.faults))
    return this.addBranch(gid, parsed.branch)
  }

  addBranch(gid: Gid, branch: TccBranch): Promise<TransactionView> {
    return this.#command(gid, { type: 'register-asked', branch })
  }

  submitPrepared(gid: Gid, options?: WaitOptions): Promise<TransactionView> {
    return this.#commandAndWait(gid, { type: 'submit-asked' }, options)
  }

  abort(gid: Gid, { reason, ...options }: AbortOptions = {}): Promise<TransactionView> {
    const command = { type: 'abort-asked', ...(reason === undefined ? {} : { reason }) } as const
    return this.#commandAndWait(gid, command, options)
  }

  retry(gid: Gid): Promise<TransactionView> {
    return this.#command(gid, { type: 'retry-asked' })
  }

  stop(gid: Gid): Promise<TransactionView> {
    return this.#command(gid, { type: 'stop-asked' })
  }

  get isStopping(): boolean {
    return this.#closing
  }

  health(): EngineHealth {
    const { name, durabilityClass, failover, isAvailable } = this.#store
    return {
      ready: !this.#closing && isAvailable,
      ...(this.#closing ? { reason: 'stopping' } : isAvailable ? {} : { reason: 'store-unavailable' }),
      store: { name, durabilityClass, failover },
      inFlight: this.#runner.size + this.#acceptance.size,
      inFlightMax: this.#parts.settings.inFlightMax,
    }
  }

  async close(limitMs = CLOSE_LIMIT_MS): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    const { clock } = this.#parts
    const until = clock.now() + limitMs
    const left = () => Math.max(0, until - clock.now())
    this.#purge.stop()
    // A store that hangs must not hold up the end.
    await within(clock, Math.min(left(), HAND_BACK_MS), this.#recovery.stop())
    await this.#acceptance.close(Math.min(left(), HAND_BACK_MS))
    this.#runner.drain('when-calls-end')
    await within(clock, Math.max(0, left() - HAND_BACK_MS), this.#runner.empty())
    this.#runner.drain('now')
    await within(clock, left(), this.#runner.empty())
    this.#runner.close()
    this.#waiters.stop()
    this.#renewal.stop()
    this.#alarms.stop()
  }

  #command(gid: Gid, command: Command): Promise<TransactionView> {
    return this.#commands.give(gid, command)
  }

  async #commandAndWait(
    gid: Gid,
    command: Command,
    { waitMs = 0 }: WaitOptions = {},
  ): Promise<TransactionView> {
    if (waitMs <= 0) return await this.#command(gid, command)
    const waiter = this.#waiters.open(gid, waitMs)
    try {
      const view = await this.#command(gid, command)
      if (isFinalStatus(view.status)) return view
      if (!this.#runner.holds(gid)) this.#waiters.watch(gid)
      return (await waiter.outcome) ?? (await this.#presentNow(gid)) ?? view
    } finally {
      waiter.cancel()
    }
  }

  #finished(gid: Gid, view: () => TransactionView): void {
    this.#waiters.finished(gid, view)
    this.#recovery.roomFreed(gid)
  }

  #givenBack(gid: Gid, dueAt: number | undefined): void {
    if (dueAt !== undefined) this.#recovery.hint(dueAt)
    this.#recovery.roomFreed(gid)
    this.#waiters.watch(gid)
  }

  /** A store that is down delays the answer; it does not fail the wait. */
  async #lookUp(gids: readonly Gid[]): Promise<readonly TransactionView[]> {
    const final: TransactionView[] = []
    try {
      for (let from = 0; from < gids.length; from += READ_MANY_MAX) {
        const rows = await this.#store.readMany(gids.slice(from, from + READ_MANY_MAX))
        for (const row of rows) if (isFinalStatus(row.status)) final.push(viewRow(row))
      }
    } catch (error: unknown) {
      // A bug ends this look, not the process: the waits end by their own time.
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      this.#parts.observer.event({ level, name: 'look-up-failed', error })
    }
    return final
  }
}

function isWaitedFor({ status }: TransactionView): boolean {
  return !isFinalStatus(status) && status !== 'prepared'
}

function answerOf(view: TransactionView, { ack }: Accepted): SubmitView {
  return { ...view, ack }
}
