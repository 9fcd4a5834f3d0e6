/** Stores a submission and starts it. It replies only once the row is durable, except with `ack: 'memory'`. */
import { hash } from 'node:crypto'
import {
  type AcceptIds,
  acceptedRun,
  type Clock,
  type CreateResult,
  type Definition,
  type Ids,
  type NewTransaction,
  newTransaction,
  newTransactionRow,
  type RunSettings,
  type Store,
  StoreUnavailableError,
  type Submission,
  type TraceContext,
  type Transaction,
  viewTransaction,
  waitsMs,
} from '@counterstep/core'
import { CounterstepError, type Gid, type TransactionView } from '@counterstep/protocol'
import type { Admission } from './bulkhead/admission.ts'
import type { Bulkhead } from './bulkhead/bulkhead.ts'
import { countRowPlaces } from './bulkhead/count-row-places.ts'
import { listDefinitionTargets } from './bulkhead/submission-targets.ts'
import type { SubmitOptions } from './engine-api.ts'
import type { EngineObserver } from './observer.ts'
import { readName } from './read-name.ts'
import type { Runner } from './runner.ts'
import { ShortLivedMap } from './short-lived-map.ts'
import { TransactionError } from './transaction-error.ts'
import { delay, within } from './until-definite.ts'
import type { Watch } from './watch/watch.ts'

export interface AcceptanceParts {
  readonly store: Store
  readonly runner: Runner
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly run: RunSettings
  readonly inFlightMax: number
  readonly bulkhead: Bulkhead
  readonly memoryAckMax: number
  readonly storeTimeoutMs: number
  /** The row waits for its start and is due at that instant of this node's clock. */
  readonly onWaiting: (gid: Gid, dueAt: number, submitter: string | undefined) => void
  readonly watch: Pick<Watch, 'isOpen' | 'reportFresh'>
}

/** A submission with its gid, which was drawn if the caller gave none. */
export type NamedSubmission = Submission & { readonly gid: Gid }

export interface Accepted {
  readonly gid: Gid
  readonly ack: 'durable' | 'memory'
  /**
   * Builds the view on demand, because a caller that waits for the end does not need it. Absent: the transaction was
   * there before, and the store knows more.
   */
  readonly view?: () => TransactionView
}

type AcceptResult =
  | { readonly type: 'created'; readonly view: () => TransactionView }
  | { readonly type: 'same' }
  | { readonly type: 'other-content' }
  | { readonly type: 'not-accepted'; readonly cause: unknown }
  | { readonly type: 'given-up' }

interface Accepting {
  readonly digest: string
  /** Builds the view on demand, because it is seldom needed. */
  readonly view: () => TransactionView
  readonly result: Promise<AcceptResult>
  readonly trace: TraceContext | undefined
  /**
   * A caller was told that the transaction will be stored, so the create is sent again until its outcome is definite.
   */
  isPromised: boolean
}

const FIRST_WAIT_MS = 20
const WAIT_MS_MAX = 1_000

export class Acceptance {
  readonly #parts: AcceptanceParts
  readonly #accepting = new ShortLivedMap<Gid, Accepting>()
  /** The places of these submissions, so that their sizes are bounded, too, while a slow store keeps them waiting. */
  #acceptingPlaces = 0
  #closing = false

  constructor(parts: AcceptanceParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#accepting.size
  }

  /**
   * Counts transactions that were or are being accepted here. Claimed ones do
   * not count, so that old work never blocks new work.
   */
  get freshSize(): number {
    const { runner } = this.#parts
    return this.#accepting.size + runner.size - runner.recovered
  }

  /** Shows a transaction that was acknowledged from memory and is not durable yet. */
  pendingView(gid: Gid): TransactionView | undefined {
    const accepting = this.#accepting.get(gid)
    return accepting?.isPromised === true ? accepting.view() : undefined
  }

  /** Waits until an accept of this gid that is under way has ended. */
  async waitUntilSettled(gid: Gid): Promise<void> {
    await this.#accepting.get(gid)?.result
  }

  async submit(submission: NamedSubmission, takeBytes?: SubmitOptions['takeBytes']): Promise<Accepted> {
    const { gid } = submission
    const digest = digestContent(submission)
    if (this.#accepting.has(gid)) await this.#waitForOtherContent(gid, digest)
    const running = this.#parts.runner.get(gid)?.transaction.digest
    const here = this.#accepting.get(gid)?.digest ?? running
    if (here !== undefined && here !== digest) throw createGidConflict(gid)
    // A shared store may have lost the row of a transaction that runs here, in a failover. A create of a row that stands changes nothing.
    const isStored = running !== undefined && !this.#parts.store.capabilities.shared
    // Its key has paid for what runs here, and it is told what stands.
    const isRepeat = running !== undefined
    if (!this.#accepting.has(gid) && !isStored)
      this.#admit(gid, digest, submission, isRepeat ? undefined : takeBytes)
    const accepting = this.#accepting.get(gid)
    if (accepting === undefined) return { gid, ack: 'durable' }
    if (submission.ack === 'memory' && !isRepeat) {
      this.#promiseToStore(gid, accepting)
      return { gid, ack: 'memory', view: accepting.view }
    }
    const result = await within(this.#parts.clock, this.#parts.storeTimeoutMs, accepting.result)
    return this.#answer(gid, result ?? { type: 'given-up' })
  }

  /**
   * Waits for a create of other content under the same gid. A create in flight proves nothing, because it may still be
   * refused.
   */
  async #waitForOtherContent(gid: Gid, digest: string): Promise<void> {
    const { clock, storeTimeoutMs } = this.#parts
    const until = clock.now() + storeTimeoutMs
    for (
      let other = this.#accepting.get(gid);
      other !== undefined && other.digest !== digest;
      other = this.#accepting.get(gid)
    ) {
      if (clock.now() >= until) {
        throw new TransactionError(
          'SAGA_NOT_ACCEPTED',
          'another submit of this gid is not definite yet: nothing was stored',
          gid,
        )
      }
      await within(clock, until - clock.now(), other.result)
    }
  }

  /** Waits for the accepts under way. Those that the store does not answer in time are given up. */
  async close(limitMs: number): Promise<void> {
    const all = Promise.allSettled(this.#accepting.values().map(({ result }) => result))
    const flushed = await within(this.#parts.clock, limitMs, all)
    this.#closing = true
    if (flushed === undefined) {
      for (const gid of this.#accepting.keys()) {
        const trace = this.#accepting.get(gid)?.trace
        this.#parts.observer.event({ level: 'error', name: 'accept-given-up', gid, trace })
      }
    }
  }

  #answer(gid: Gid, result: AcceptResult): Accepted {
    switch (result.type) {
      case 'created':
        return { gid, ack: 'durable', view: result.view }
      case 'same':
        return { gid, ack: 'durable' }
      case 'other-content':
        throw createGidConflict(gid)
      case 'not-accepted':
        throw new TransactionError(
          'SAGA_NOT_ACCEPTED',
          'the store cannot be written: nothing was stored',
          gid,
          result.cause,
        )
      case 'given-up':
        throw new TransactionError(
          'SAGA_OUTCOME_UNKNOWN',
          `it is not known whether ${gid} was stored: submit the same again`,
          gid,
        )
    }
  }

  #admit(gid: Gid, digest: string, submission: Submission, takeBytes: SubmitOptions['takeBytes']): void {
    const { inFlightMax, memoryAckMax, ids, run, store } = this.#parts
    if (store.isShortOfRoom) {
      throw new CounterstepError(
        'SAGA_STORE_FULL',
        'the disk of the store has too little room for new transactions; those that run go on',
      )
    }
    const memoryIsFull = submission.ack === 'memory' && this.#accepting.size >= memoryAckMax
    const isFull = this.freshSize >= inFlightMax || this.#acceptingPlaces >= inFlightMax
    if (memoryIsFull || isFull) {
      throw new CounterstepError('SAGA_OVER_CAPACITY', 'too many transactions are in flight here')
    }
    const acceptIds = { gid, digest, token: ids.token(), writeId: ids.writeId() }
    const row = newTransactionRow(submission, acceptIds, run)
    takeBytes?.(Buffer.byteLength(row.definition))
    const places = countRowPlaces(row)
    const admission = this.#takePlaces(submission.definition, places)
    this.#acceptingPlaces += places
    const acceptedAt = Date.now()
    const accepting: Accepting = {
      digest,
      view: () => showAccepted(newTransaction(submission, acceptIds, acceptedAt)),
      result: this.#create(row, submission, acceptIds, admission),
      trace: submission.definition.trace,
      isPromised: false,
    }
    this.#accepting.set(gid, accepting)
  }

  /** Takes the places of a submit. A transaction that waits for its start is not run here yet, and takes none. */
  #takePlaces(definition: Definition, places: number): Admission | undefined {
    const { bulkhead, run } = this.#parts
    if (waitsMs(definition, run) !== undefined) return undefined
    const admission = bulkhead.admit(listDefinitionTargets(bulkhead, definition), places)
    if (admission !== undefined) return admission
    throw new CounterstepError(
      'SAGA_TARGET_OVER_CAPACITY',
      'a target of this transaction holds its share of what this node can do at once',
    )
  }

  #promiseToStore(gid: Gid, accepting: Accepting): void {
    if (accepting.isPromised) return
    accepting.isPromised = true
    accepting.result.then(
      (result) => this.#reportLoss(gid, accepting, result),
      (error: unknown) => this.#reportBug(gid, accepting, error),
    )
  }

  async #create(
    row: NewTransaction,
    submission: Submission,
    ids: AcceptIds,
    admission: Admission | undefined,
  ): Promise<AcceptResult> {
    try {
      const result = await this.#createUntilDefinite(row, submission, ids, admission)
      // The runner has the admission of a created transaction.
      if (result.type !== 'created') admission?.end()
      return result
    } catch (error: unknown) {
      admission?.end()
      throw error
    } finally {
      // The entry goes before any caller sees the result: otherwise a submit that came in between would be told that a
      // refused transaction will be stored.
      this.#accepting.delete(ids.gid)
      this.#acceptingPlaces -= countRowPlaces(row)
    }
  }

  async #createUntilDefinite(
    row: NewTransaction,
    submission: Submission,
    ids: AcceptIds,
    admission: Admission | undefined,
  ): Promise<AcceptResult> {
    const { store, clock, run, observer } = this.#parts
    let mayHaveLanded = false
    // The lease counts from the first try, because a repeated create does not extend the lease of a stored row.
    const sentAt = clock.now()
    // After the retention the gid is free again, so a create that is repeated
    // so late would run the transaction a second time.
    const repeatUntil = run.retentionMs === 'never' ? Number.POSITIVE_INFINITY : sentAt + run.retentionMs / 2
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
      try {
        return this.#startCreated(row, await store.create(row), submission, ids, sentAt, admission)
      } catch (error: unknown) {
        if (!(error instanceof StoreUnavailableError)) throw error
        mayHaveLanded ||= error.applied === 'unknown'
        // A definite no to this try says nothing about an earlier one whose answer was lost.
        const isPromised = this.#accepting.get(ids.gid)?.isPromised ?? false
        if (!mayHaveLanded && !isPromised) return { type: 'not-accepted', cause: error }
      }
      if (this.#closing) return { type: 'given-up' }
      await delay(clock, waitMs)
      // The process may have been frozen meanwhile, for any time.
      if (this.#closing) return { type: 'given-up' }
      if (clock.now() > repeatUntil) {
        const { trace } = submission.definition
        observer.event({ level: 'error', name: 'accept-given-up', gid: ids.gid, trace })
        return { type: 'given-up' }
      }
    }
  }

  #startCreated(
    row: NewTransaction,
    result: CreateResult,
    submission: Submission,
    ids: AcceptIds,
    sentAt: number,
    admission: Admission | undefined,
  ): AcceptResult {
    if (result.type === 'exists') return { type: result.digest === ids.digest ? 'same' : 'other-content' }
    const { clock, observer, runner, run, onWaiting, watch } = this.#parts
    const transaction = newTransaction(submission, ids, result.createdAt)
    observer.accepted(transaction.kind, readName(transaction.definition))
    if (watch.isOpen) watch.reportFresh(ids.gid)
    const dueInMs = waitsMs(submission.definition, run)
    if (dueInMs !== undefined) onWaiting(ids.gid, clock.now() + dueInMs, submission.definition.submitter)
    else
      runner.start(
        acceptedRun(transaction, ids.token, run, { sentAt, now: clock.now(), storeNow: result.now }),
        admission,
        countRowPlaces(row),
      )
    return { type: 'created', view: () => runner.view(ids.gid) ?? showAccepted(transaction) }
  }

  #reportLoss(gid: Gid, { trace }: Accepting, result: AcceptResult): void {
    if (result.type === 'created' || result.type === 'same') return
    const { type: detail } = result
    this.#parts.observer.event({ level: 'error', name: 'memory-ack-lost', gid, trace, detail })
  }

  #reportBug(gid: Gid, { trace }: Accepting, error: unknown): void {
    this.#parts.observer.event({ level: 'error', name: 'memory-ack-lost', gid, trace, error })
  }
}

function showAccepted(transaction: Transaction): TransactionView {
  return viewTransaction(transaction, transaction.status)
}

/** Computes the digest of a submit or a signal. It is equal for two of the same content. */
export function digestContent({ content }: Pick<Submission, 'content'>): string {
  return hashText(content)
}

/** Returns the SHA-256 in hex. */
function hashText(text: string): string {
  return hash('sha256', text)
}

export function createGidConflict(gid: Gid): TransactionError {
  return new TransactionError('SAGA_GID_CONFLICT', `${gid} is taken by a transaction with other content`, gid)
}
