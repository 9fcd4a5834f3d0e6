/** The operations for a host that both engines share: submit, show, wait and give commands. */
import {
  type Command,
  type Given as CoreGiven,
  countBodyCharacters,
  type Definition,
  decodeTransaction,
  findUnplainIds,
  firstStatus,
  type ListQuery,
  matchesFilters,
  parseRegistration,
  parseSignal,
  parseSubmission,
  type RecordedEnd,
  type RegisteredBranch,
  readTraceContext,
  type Signal,
  type StepRecord,
  type StoredTransaction,
  type StoreStats,
  StoreUnavailableError,
  type Submission,
  type SubmissionDefaults,
  type Transaction,
  toListed,
} from '@counterstep/core'
import {
  CounterstepError,
  type Gid,
  InvalidRequestError,
  isCounterstepError,
  isFinalStatus,
  type NamesView,
  OPEN_KINDS,
  type OverviewView,
  type ProblemsView,
  type ServicesView,
  type SignalView,
  type SubmitView,
  type TransactionSummary,
  type TransactionView,
} from '@counterstep/protocol'
import { type Accepted, digestContent, type NamedSubmission } from './acceptance.ts'
import type { Assembly } from './assembly.ts'
import type {
  AbortOptions,
  EngineApi,
  EngineHealth,
  Given,
  ShownWhole,
  SubmitOptions,
  WaitOptions,
} from './engine-api.ts'
import { nameSubmitter } from './name-submitter.ts'
import { OperatorRequests } from './operator/operator-requests.ts'
import { readGiven } from './operator/read-given.ts'
import { toLane } from './read-limiter.ts'
import { findStanding, isNoRoom } from './standing-submit.ts'
import { toSummary } from './summary.ts'
import { traceAccept } from './traced.ts'
import { within } from './until-definite.ts'
import type { Waiter } from './waiters.ts'

export abstract class Requests implements EngineApi {
  protected readonly assembly: Assembly
  readonly #operators: OperatorRequests

  constructor(assembly: Assembly) {
    this.assembly = assembly
    this.#operators = new OperatorRequests({
      assembly,
      refuseLongTimeout: (timeoutMs) => this.#refuseLongTimeout(timeoutMs, '/timeoutMs'),
    })
  }

  abstract readonly isStopping: boolean
  abstract health(): EngineHealth
  abstract close(limitMs?: number): Promise<void>

  overview(): Promise<OverviewView> {
    return this.assembly.figures.overview()
  }

  services(): Promise<ServicesView> {
    return this.assembly.figures.services()
  }

  names(): Promise<NamesView> {
    return this.assembly.figures.names()
  }

  readStats(): Promise<StoreStats | undefined> {
    return this.assembly.figures.readStats()
  }

  /**
   * This is no async function, and neither are the other two that read a body: such a function holds what it was given until
   * its end, which may be a wait of 60 s, and a parsed body may take twenty times the memory of its text.
   */
  submit(body: unknown, options: SubmitOptions = {}): Promise<SubmitView> {
    let submission: Submission
    try {
      if (this.isStopping) throw new CounterstepError('SAGA_STOPPING', 'this node is stopping')
      submission = this.#readSubmission(body)
    } catch (error: unknown) {
      return Promise.reject(this.#countRefusal(error))
    }
    return this.accept(submission, options)
  }

  #readSubmission(body: unknown): Submission {
    const parsed = parseSubmission(body, this.#defaults(), this.assembly.checkUrl)
    if (parsed.type === 'refused') throw new InvalidRequestError(parsed.faults)
    this.#refuseLongTimeouts(parsed.submission.definition)
    return parsed.submission
  }

  async accept(submission: Submission, options: SubmitOptions = {}): Promise<SubmitView> {
    try {
      if (this.isStopping) throw new CounterstepError('SAGA_STOPPING', 'this node is stopping')
      return await this.take(submission, options)
    } catch (error: unknown) {
      throw this.#countRefusal(error)
    }
  }

  protected take(given: Submission, options: SubmitOptions): Promise<SubmitView> {
    const fault =
      this.#refuseNewKind(given.definition) ??
      this.#refuseUnplain(given.gid, getNamedBranches(given.definition))
    if (fault !== undefined) return Promise.reject(fault)
    const gid = given.gid ?? this.assembly.ids.gid()
    // A caller that waits is told durable states only.
    const ack = (options.waitMs ?? 0) > 0 ? 'durable' : given.ack
    const caller = readTraceContext(options.trace?.traceparent, options.trace?.tracestate)
    const { kind, name } = given.definition
    const span = this.assembly.tracer?.startAccept({ gid, kind, name }, caller)
    const trace = span === undefined ? caller : span.trace
    const submitter = options.caller === undefined ? undefined : nameSubmitter(options.caller)
    const definition = { ...given.definition, ...(trace && { trace }), ...(submitter && { submitter }) }
    const submission = { ...given, gid, ack, definition }
    return this.#submitAndWait(submission, options, () =>
      traceAccept(span, () => this.#accept(submission, options, given.gid !== undefined)),
    )
  }

  /** A host of another dialect builds its definitions itself. */
  #refuseNewKind({ kind, callsGrpc, jsonRpc }: Definition): InvalidRequestError | undefined {
    const protocol = callsGrpc === true ? 'gRPC' : jsonRpc === true ? 'JSON-RPC' : undefined
    const isOpen = OPEN_KINDS.some((open) => open === kind) && protocol === undefined
    if (this.assembly.settings.acceptNewKinds || isOpen) return undefined
    const subject = protocol === undefined ? kind : `a transaction over ${protocol}`
    const message = `${subject} is accepted only where new kinds are (--accept-new-kinds)`
    return new InvalidRequestError([{ code: 'SAGA_KIND_UNSUPPORTED', path: '/kind', message }])
  }

  #refuseUnplain(
    gid: Gid | undefined,
    branches: readonly { readonly id: string }[],
  ): InvalidRequestError | undefined {
    if (this.assembly.plainIds !== true) return undefined
    const [first, ...others] = findUnplainIds(gid, branches)
    return first === undefined ? undefined : new InvalidRequestError([first, ...others])
  }

  /**
   * Refuses time limits that are too long, instead of shortening them: if a client asked for ten minutes and the call
   * was given up earlier, the client would believe that the call had failed. A host of another dialect keeps that
   * dialect's rule; the time limits that it accepts are shortened at each call.
   */
  #refuseLongTimeouts(definition: Definition): void {
    this.#refuseLongTimeout(definition.timeoutMs, '/timeoutMs')
    if (!('branches' in definition)) return
    const { branches } = definition
    for (let position = 0; position < branches.length; position++) {
      const timeoutMs = branches[position]?.timeoutMs
      if (timeoutMs !== undefined) this.#refuseLongTimeout(timeoutMs, `/branches/${position}/timeoutMs`)
    }
  }

  #refuseLongTimeout(timeoutMs: number | undefined, path: string): void {
    const { timeoutMsMax } = this.assembly.settings
    if (timeoutMs === undefined || timeoutMs <= timeoutMsMax) return
    const message = `a branch call of this server may take ${timeoutMsMax} ms at most`
    throw new InvalidRequestError([{ code: 'SAGA_TIMEOUT_INVALID', path, message }])
  }

  #countRefusal(error: unknown): unknown {
    if (isCounterstepError(error)) this.assembly.observer.refused(error.code)
    return error
  }

  #defaults(): SubmissionDefaults {
    const { retry, branchTimeoutMs, checkpointMs, acceptNewKinds } = this.assembly.settings
    return { retry, timeoutMs: branchTimeoutMs, checkpointMs, acceptNewKinds }
  }

  async #submitAndWait(
    submission: NamedSubmission,
    { waitMs = 0, untilIdle, heldCharacters = 0, gone, caller }: WaitOptions,
    accept: () => Promise<Accepted>,
  ): Promise<SubmitView> {
    const { gid } = submission
    // The waiter is opened before the accept, because the end may come before the accept's answer is seen here.
    // A prepared transaction waits for its client, which is this caller.
    const waits = waitMs > 0 && firstStatus(submission.definition) !== 'prepared'
    const waiter = waits
      ? this.assembly.waiters.open(gid, waitMs, untilIdle, Math.max(countHeld(submission), heldCharacters))
      : undefined
    if (waiter !== undefined) cancelWhenGone(waiter, gone)
    try {
      const accepted = await accept()
      if (waiter === undefined) return toSubmitView(await this.#present(accepted, caller), accepted)
      // A transaction that was there before may have ended before this waiter was opened.
      const before = accepted.view === undefined ? await this.#present(accepted, caller) : undefined
      if (before !== undefined && !isWaitedFor(before)) return toSubmitView(before, accepted)
      if (!this.assembly.runner.isRunning(gid)) this.assembly.waiters.watch(gid)
      const final = await waiter.outcome
      if (final !== undefined) return toFinalView(final)
      const now = (await this.#presentNow(gid, caller)) ?? before
      return toSubmitView(now ?? (await this.#present(accepted, caller)), accepted)
    } finally {
      waiter?.cancel()
    }
  }

  async #accept(
    submission: NamedSubmission,
    { takeBytes }: SubmitOptions,
    mayStand: boolean,
  ): Promise<Accepted> {
    const { acceptance, clock, settings } = this.assembly
    try {
      return await acceptance.submit(submission, takeBytes)
    } catch (error: unknown) {
      if (!mayStand || !isNoRoom(error)) throw error
      return await findStanding(submission, error, {
        clock,
        limitMs: settings.storeTimeoutMs,
        readRow: () => this.assembly.looks.readRowAtOnce(submission.gid),
        settle: () => this.assembly.store.settle(),
      })
    }
  }

  async #present({ gid, view }: Accepted, caller: string | undefined): Promise<TransactionView> {
    if (view !== undefined) return view()
    const seen = await this.#lookInTurn(gid, caller)
    if (seen !== undefined) return seen
    throw new CounterstepError(
      'SAGA_OUTCOME_UNKNOWN',
      `${gid} is there, and cannot be read: submit the same again`,
    )
  }

  /** Reads the current state. The result is undefined when the store does not answer in time. */
  async #presentNow(gid: Gid, caller: string | undefined): Promise<TransactionView | undefined> {
    try {
      return await this.#lookInTurn(gid, caller)
    } catch (error: unknown) {
      if (!(error instanceof StoreUnavailableError)) throw error
      this.assembly.observer.event({ level: 'warn', name: 'look-up-failed', gid, error })
      return undefined
    }
  }

  /**
   * Reads the current state, in the caller's turn if the row is large: a submit of few bytes may repeat one of 1 MiB. The
   * result is undefined when the turn does not come in time, or the store does not answer.
   */
  async #lookInTurn(gid: Gid, caller: string | undefined): Promise<TransactionView | undefined> {
    const { clock, settings, largeTurns, looks } = this.assembly
    const lane = caller === undefined ? undefined : toLane(caller, 'look')
    try {
      return await largeTurns.run(gid, lane, (turn) =>
        within(clock, settings.storeTimeoutMs, looks.getByTurn(gid, turn)),
      )
    } catch (error: unknown) {
      if (isCounterstepError(error) && error.code === 'SAGA_OVER_CAPACITY') return undefined
      throw error
    }
  }

  get(gid: Gid): Promise<TransactionView | undefined> {
    return this.assembly.looks.get(gid)
  }

  show(gid: Gid, caller?: string): Promise<TransactionView | undefined> {
    return this.assembly.looks.show(gid, caller)
  }

  waitForTurn(characters: number, caller?: string): Promise<void> {
    return this.assembly.looks.waitForTurn(characters, caller)
  }

  async list(
    { gid, ...query }: ListQuery & { readonly gid?: Gid },
    caller?: string,
  ): ReturnType<EngineApi['list']> {
    if (gid !== undefined) return { items: await this.#listOne(gid, query, caller) }
    const { items, cursor } = await this.assembly.looks.list(query, caller)
    return { items: items.map(toSummary), ...(cursor === undefined ? {} : { cursor }) }
  }

  async #listOne(
    gid: Gid,
    query: ListQuery,
    caller: string | undefined,
  ): Promise<readonly TransactionSummary[]> {
    const row = await this.assembly.looks.readRowInTurn(gid, caller)
    const isListed =
      row !== undefined &&
      matchesFilters(row, query) &&
      (query.order === undefined || query.order === 'created' || !isFinalStatus(row.status))
    return isListed ? [toSummary(toListed(row))] : []
  }

  async problems(): Promise<ProblemsView> {
    const stats = await this.readStats()
    if (stats !== undefined) return { asOf: stats.now, items: stats.problems }
    throw new CounterstepError('SAGA_STORE_UNAVAILABLE', 'the store does not answer for its figures')
  }

  async read(gid: Gid, caller?: string): Promise<Transaction | undefined> {
    return await this.#readInTurn(gid, caller, decodeTransaction)
  }

  async readWhole(gid: Gid, caller?: string): Promise<ShownWhole | undefined> {
    const { looks } = this.assembly
    return await this.#readInTurn(gid, caller, (row) => ({
      transaction: decodeTransaction(row),
      view: looks.showNewest(row),
    }))
  }

  async #readInTurn<T>(
    gid: Gid,
    caller: string | undefined,
    decode: (row: StoredTransaction) => T,
  ): Promise<T | undefined> {
    const { looks, largeTurns } = this.assembly
    return await largeTurns.run(gid, caller, async (turn) => {
      const row = await turn.read()
      if (row === undefined || row === 'needs-turn') return row
      await looks.settle(row)
      return decode(row)
    })
  }

  async showWhole(gid: Gid, caller?: string): Promise<ShownWhole | undefined> {
    const { looks } = this.assembly
    const row = await looks.readRowInTurn(gid, caller)
    if (row === undefined) return undefined
    await looks.settle(row)
    return { transaction: decodeTransaction(row), view: looks.showNewest(row) }
  }

  registerBranch(gid: Gid, body: unknown, caller?: string): Promise<TransactionView> {
    let branch: RegisteredBranch
    try {
      branch = this.#readBranch(body)
    } catch (error: unknown) {
      return Promise.reject(error)
    }
    return this.addBranch(gid, branch, caller)
  }

  #readBranch(body: unknown): RegisteredBranch {
    const parsed = parseRegistration(body, this.#defaults(), this.assembly.checkUrl)
    if (parsed.type === 'refused') throw new InvalidRequestError(parsed.faults)
    this.#refuseLongTimeout(parsed.branch.timeoutMs, '/timeoutMs')
    return parsed.branch
  }

  addBranch(gid: Gid, branch: RegisteredBranch, caller?: string): Promise<TransactionView> {
    const idFault = this.#refuseUnplain(undefined, [branch])
    if (idFault !== undefined) return Promise.reject(idFault)
    return this.#command(gid, { type: 'register-asked', branch }, caller)
  }

  addRecord(gid: Gid, record: StepRecord, caller?: string): Promise<TransactionView> {
    return this.#command(gid, { type: 'record-asked', record }, caller)
  }

  endRecorded(gid: Gid, end: RecordedEnd, caller?: string): Promise<TransactionView> {
    return this.#command(gid, { type: 'end-asked', end }, caller)
  }

  submitPrepared(gid: Gid, options?: WaitOptions): Promise<TransactionView> {
    return this.#commandAndWait(gid, { type: 'submit-asked' }, options)
  }

  async abort(gid: Gid, { given, ...options }: AbortOptions = {}): Promise<TransactionView> {
    const { reason = given?.reason, ...waiting } = options
    const command = {
      type: 'abort-asked',
      ...(reason === undefined ? {} : { reason }),
      ...this.#readGiven(given),
    } as const
    return await this.#commandAndWait(gid, command, waiting)
  }

  signal(gid: Gid, name: string, body: unknown, caller?: string): Promise<SignalView> {
    const parsed = parseSignal(name, body)
    if (parsed.type === 'refused') return Promise.reject(new InvalidRequestError(parsed.faults))
    return this.#addSignal(gid, { ...parsed.signal, digest: digestContent(parsed) }, caller)
  }

  async #addSignal(gid: Gid, signal: Signal, caller: string | undefined): Promise<SignalView> {
    const { name } = signal
    const { signals = [] } = await this.#command(gid, { type: 'signal-asked', signal }, caller)
    const { id } = signal
    // A signal that is missing was taken so long ago that the saga has forgotten its id.
    const state = signals.find((each) => each.id === id)?.state ?? 'taken'
    return { gid, name, id, state }
  }

  async retry(gid: Gid, given?: Given, caller?: string): Promise<TransactionView> {
    return await this.#command(gid, { type: 'retry-asked', ...this.#readGiven(given) }, caller)
  }

  async stop(gid: Gid, given?: Given): Promise<TransactionView> {
    return await this.#command(gid, { type: 'stop-asked', ...this.#readGiven(given, true) })
  }

  /** A client's own command has none. */
  #readGiven(given: Given | undefined, needsReason = false): { readonly given?: CoreGiven } {
    return given === undefined ? {} : { given: readGiven(given, this.assembly.ids, needsReason) }
  }

  retryOp: EngineApi['retryOp'] = (...asked) => this.#operators.retryOp(...asked)
  pause: EngineApi['pause'] = async (...asked) => await this.#operators.pause(...asked)
  resume: EngineApi['resume'] = async (...asked) => await this.#operators.resume(...asked)
  skip: EngineApi['skip'] = async (...asked) => await this.#operators.skip(...asked)
  edit: EngineApi['edit'] = (...asked) => this.#operators.edit(...asked)
  preview: EngineApi['preview'] = (...asked) => this.#operators.preview(...asked)
  showRequest: EngineApi['showRequest'] = (...asked) => this.#operators.showRequest(...asked)

  #command(gid: Gid, command: Command, caller?: string): Promise<TransactionView> {
    return this.assembly.commands.give(gid, command, caller)
  }

  async #commandAndWait(
    gid: Gid,
    command: Command,
    { waitMs = 0, untilIdle, heldCharacters, gone, caller }: WaitOptions = {},
  ): Promise<TransactionView> {
    if (waitMs <= 0) return await this.#command(gid, command, caller)
    const waiter = this.assembly.waiters.open(gid, waitMs, untilIdle, heldCharacters)
    cancelWhenGone(waiter, gone)
    try {
      const view = await this.#command(gid, command, caller)
      if (isFinalStatus(view.status)) return view
      if (!this.assembly.runner.isRunning(gid)) this.assembly.waiters.watch(gid)
      return (await waiter.outcome) ?? (await this.#presentNow(gid, caller)) ?? view
    } finally {
      waiter.cancel()
    }
  }
}

/** The content of another dialect's host is only a hash. */
function countHeld({ content, definition }: NamedSubmission): number {
  return Math.max(content.length, 'branches' in definition ? countBodyCharacters(definition.branches) : 0)
}

function cancelWhenGone({ cancel }: Waiter, gone: AbortSignal | undefined): void {
  if (gone?.aborted === true) cancel()
  else gone?.addEventListener('abort', cancel, { once: true })
}

function isWaitedFor({ status }: TransactionView): boolean {
  return !isFinalStatus(status) && status !== 'prepared'
}

function toSubmitView(view: TransactionView, { ack }: Accepted): SubmitView {
  return { ...view, ack }
}

const finalViews = new WeakMap<TransactionView, SubmitView>()

/**
 * All callers that have waited for one end get the same object, so that a host writes its JSON once: thousands may wait
 * for one transaction, whose output may have 256 KiB.
 */
function toFinalView(view: TransactionView): SubmitView {
  const known = finalViews.get(view)
  if (known !== undefined) return known
  const final = { ...view, ack: 'durable' } as const
  finalViews.set(view, final)
  return final
}

function getNamedBranches(definition: Definition): readonly { readonly id: string }[] {
  return 'branches' in definition ? definition.branches : []
}
