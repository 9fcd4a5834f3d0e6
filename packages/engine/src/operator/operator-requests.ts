/** The requests of operators beside those that clients have too: pause, resume, one op, the preview and the requests of ops. */
import {
  type CommandRefusal,
  canonicalJson,
  decodeTransaction,
  type EditFields,
  findNamedOp,
  findPolicy,
  type GivenCommand,
  parseEdit,
  planNext,
  RULES,
  type StoredTransaction,
  type Transaction,
  takeAsSent,
  toPreviewCommand,
} from '@counterstep/core'
import {
  type Gid,
  InvalidRequestError,
  type Op,
  type PlanView,
  type PreviewRequest,
  type SkipRequest,
  type TransactionView,
} from '@counterstep/protocol'
import type { Assembly } from '../assembly.ts'
import type { Given } from '../engine-api.ts'
import { describeRefusal, REFUSAL_CODES } from '../refused-command.ts'
import { toUnknownGidError } from '../transaction-error.ts'
import { readGiven } from './read-given.ts'
import { writeRequests } from './write-requests.ts'

export interface OperatorParts {
  readonly assembly: Assembly
  /** Throws if a call of this server may not take so long. */
  readonly refuseLongTimeout: (timeoutMs: number | undefined) => void
}

/** A preview plays on this. */
interface Known {
  readonly transaction: Transaction
  readonly isExact: boolean
  readonly storeNow: number
}

/** A host that names no operator gives a command itself. */
const HOST: Given = { by: { via: 'local' } }

export class OperatorRequests {
  readonly #parts: OperatorParts

  constructor(parts: OperatorParts) {
    this.#parts = parts
  }

  pause(gid: Gid, { until }: { readonly until?: number }, given: Given): Promise<TransactionView> {
    if (until !== undefined && !Number.isSafeInteger(until)) {
      const message = 'must be an instant in whole epoch milliseconds'
      throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '/until', message }])
    }
    const end = until === undefined ? {} : { until }
    return this.#give(gid, { type: 'pause-asked', ...end, given: this.#read(given) })
  }

  resume(gid: Gid, given: Given): Promise<TransactionView> {
    return this.#give(gid, { type: 'resume-asked', given: this.#read(given) })
  }

  retryOp(gid: Gid, branchId: string, op: Op, given: Given = HOST): Promise<TransactionView> {
    return this.#give(gid, { type: 'retry-op-asked', branchId, op, given: this.#read(given) })
  }

  skip(
    gid: Gid,
    branchId: string,
    op: Op,
    { doneBy, answer }: Pick<SkipRequest, 'doneBy' | 'answer'>,
    given: Given,
  ): Promise<TransactionView> {
    if (doneBy !== 'service' && doneBy !== 'hand') {
      const message = 'must be "service" or "hand": who has done it'
      throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '/doneBy', message }])
    }
    if (answer !== undefined && canonicalJson(answer) === undefined)
      throw new InvalidRequestError([
        { code: 'SAGA_PAYLOAD_TOO_DEEP', path: '/answer', message: 'is nested too deep' },
      ])
    const values = answer === undefined ? {} : { answer: JSON.stringify(answer) }
    const read = this.#read(given, true)
    return this.#give(gid, { type: 'skip-asked', branchId, op, doneBy, ...values, given: read })
  }

  /**
   * The edit is checked against the op as it is read here. The op may change until the command is decided, but the parts that
   * this check needs never do: its policy is only replaced by another edit, and its role stays.
   */
  async edit(gid: Gid, branchId: string, op: Op, body: unknown, given: Given): Promise<TransactionView> {
    const read = this.#read(given, true)
    const transaction = await this.#readTransaction(gid)
    const edit = this.#parseEdit(transaction, branchId, op, body)
    return await this.#give(gid, { type: 'edit-asked', branchId, op, edit, given: read })
  }

  #parseEdit(transaction: Transaction, branchId: string, op: Op, body: unknown): EditFields {
    const found = findNamedOp(transaction, { branchId, op })
    const retry = found === undefined ? transaction.definition.retry : findPolicy(transaction, found.call)
    const role =
      transaction.kind === 'saga' && op === 'action'
        ? transaction.definition.branches[found?.call.branch ?? -1]?.role
        : undefined
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      const message = 'must be a JSON object'
      throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '', message }])
    }
    const { assembly, refuseLongTimeout } = this.#parts
    const parsed = parseEdit({ ...body }, { retry, role, checkUrl: assembly.checkUrl })
    if (parsed.type === 'refused') throw new InvalidRequestError(parsed.faults)
    refuseLongTimeout(parsed.edit.timeoutMs)
    return parsed.edit
  }

  /** It is only a look, so it takes its turn among the other looks. To play it out keeps the thread busy. */
  async preview(gid: Gid, request: PreviewRequest, caller?: string): Promise<PlanView> {
    const command = toPreviewCommand(request)
    if (command === undefined) {
      const message = `is required for ${request.command}`
      throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '/op', message }])
    }
    return await this.#parts.assembly.looks.take(
      () => this.#readKnown(gid),
      (known) => {
        const { transaction, isExact, storeNow } = 'gid' in known ? this.#decodeKnown(known, command) : known
        const { refusal, ...plan } = planNext(RULES, transaction, command, storeNow)
        const fault = refusal === undefined ? {} : { refusal: describe(gid, command, refusal, transaction) }
        return { ...plan, ...fault, exact: isExact, needs: listNeeds(transaction, command) }
      },
      caller,
    )
  }

  /** Building the requests and writing them keeps the thread busy, so both belong to the look. */
  async showRequest(gid: Gid, caller?: string): Promise<string | undefined> {
    const { looks, settings } = this.#parts.assembly
    return await looks.take(
      () => looks.readRow(gid),
      (row) => (row === undefined ? undefined : writeRequests(decodeTransaction(row), settings.timeoutMsMax)),
      caller,
    )
  }

  /** A node that runs the transaction knows what it has sent, and reads no row. */
  async #readKnown(gid: Gid): Promise<Known | StoredTransaction> {
    const { runner, clock, looks } = this.#parts.assembly
    const run = runner.get(gid)
    if (run !== undefined && clock.now() < run.leaseUntil) {
      const storeNow = Math.floor(clock.now() + run.storeOffsetMs)
      return { transaction: run.transaction, isExact: true, storeNow }
    }
    const row = await looks.readRow(gid)
    if (row === undefined) throw toUnknownGidError(gid)
    return row
  }

  /** Elsewhere each branch may have been sent while a node owns the row. */
  #decodeKnown(row: StoredTransaction, command: GivenCommand): Known {
    const { readEpochMs } = this.#parts.assembly
    const transaction = takeAsSent(decodeTransaction(row), row, command)
    return { transaction, isExact: !row.owned, storeNow: Math.max(row.updatedAt, readEpochMs()) }
  }

  async #readTransaction(gid: Gid): Promise<Transaction> {
    const row = await this.#parts.assembly.looks.readRow(gid)
    if (row === undefined) throw toUnknownGidError(gid)
    return decodeTransaction(row)
  }

  #read(given: Given, needsReason = false) {
    return readGiven(given, this.#parts.assembly.ids, needsReason)
  }

  #give(gid: Gid, command: GivenCommand): Promise<TransactionView> {
    return this.#parts.assembly.commands.give(gid, command)
  }
}

function describe(gid: Gid, command: GivenCommand, refusal: CommandRefusal, { status }: Transaction) {
  return { code: REFUSAL_CODES[refusal], detail: describeRefusal(gid, command, refusal, status) }
}

function listNeeds(transaction: Transaction, command: GivenCommand): PlanView['needs'] {
  const { type } = command
  if (type === 'stop-asked') return ['reason']
  if (type !== 'skip-asked' && type !== 'edit-asked') return []
  const progress = findNamedOp(transaction, command)?.progress
  const mayHaveRun =
    progress?.state !== 'by-hand' &&
    progress?.state !== 'open' &&
    ((progress?.attempts ?? 0) > 0 || transaction.sentUnknown)
  const isRisky = type === 'edit-asked' || command.doneBy === 'hand'
  return mayHaveRun && isRisky ? ['reason', 'confirm'] : ['reason']
}
