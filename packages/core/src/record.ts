/** How a transaction is written down. State is fully in the record: decoding what was encoded goes on as if nothing was. */
import type { Gid, OpState, Status } from '@counterstep/protocol'
import type { Definition, SagaBranch } from './definition.ts'
import { AssertionError, assert } from './errors.ts'
import type { StoredTransaction } from './store.ts'
import {
  type AbortDecision,
  IDLE,
  type OpProgress,
  type SagaBranchProgress,
  type Transaction,
  UNTOUCHED,
} from './transaction.ts'

/** Raised when older code could not read what this code writes. */
export const FORMAT = 1

/** Short keys: this text is written with every save. */
interface ProgressRecord {
  /** Branches up to the last one that was touched. */
  readonly b?: readonly BranchRecord[]
  readonly abort?: AbortDecision
  readonly finishedAt?: number
  readonly nudges?: number
  readonly attention?: string
}

interface BranchRecord {
  readonly a?: Partial<OpProgress>
  readonly c?: Partial<OpProgress>
}

export function encodeDefinition(definition: Definition): string {
  return JSON.stringify(definition)
}

export function encodeProgress(transaction: Transaction): string {
  const branches = transaction.branches.map(encodeBranch)
  while (branches.length > 0 && Object.keys(branches.at(-1) ?? {}).length === 0) branches.pop()
  const record: ProgressRecord = {
    ...(branches.length === 0 ? {} : { b: branches }),
    ...('abort' in transaction && transaction.abort !== undefined ? { abort: transaction.abort } : {}),
    ...('finishedAt' in transaction ? { finishedAt: transaction.finishedAt } : {}),
    ...(transaction.nudges === 0 ? {} : { nudges: transaction.nudges }),
    ...(transaction.attention === undefined ? {} : { attention: transaction.attention }),
  }
  return JSON.stringify(record)
}

function encodeBranch(progress: SagaBranchProgress): BranchRecord {
  return {
    ...(progress.action === IDLE ? {} : { a: encodeOp(progress.action) }),
    ...(progress.compensate === IDLE ? {} : { c: encodeOp(progress.compensate) }),
  }
}

function encodeOp(progress: OpProgress): Partial<OpProgress> {
  const { failures, waits, ...rest } = progress
  return { ...rest, ...(failures === 0 ? {} : { failures }), ...(waits === 0 ? {} : { waits }) }
}

/**
 * Throws AssertionError when the record is not one that this code writes: such a row needs a person, not a crash.
 * `updatedAt` and `epoch` come from the row's own columns.
 */
export function decodeTransaction(row: StoredTransaction): Transaction {
  assert(row.format <= FORMAT, 'the record is of a newer format')
  const definition = parseRecord(row.definition, 'definition') as Definition
  const record = parseRecord(row.progress, 'progress') as ProgressRecord
  assertShape(definition, record)
  const common = {
    kind: definition.kind,
    gid: row.gid as Gid,
    definition,
    digest: row.digest,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    epoch: row.epoch,
    sentUnknown: row.sentList === 'unknown',
    nudges: record.nudges ?? 0,
    ...(record.attention === undefined ? {} : { attention: record.attention }),
    branches: definition.branches.map((_, position) => decodeBranch(record.b?.[position])),
  }
  return withStatus(common, row.status, record)
}

type Common = Omit<Extract<Transaction, { readonly status: 'submitted' }>, 'status'>

function withStatus(common: Common, status: Status, record: ProgressRecord): Transaction {
  const { abort, finishedAt } = record
  if (status === 'submitted') return { ...common, status }
  if (status === 'aborting' && abort !== undefined) return { ...common, status, abort }
  if (status === 'succeeded' && finishedAt !== undefined) return { ...common, status, finishedAt }
  if (status === 'failed' && abort !== undefined && finishedAt !== undefined) {
    return { ...common, status, abort, finishedAt }
  }
  if (status === 'stopped' && finishedAt !== undefined) {
    return { ...common, status, finishedAt, ...(abort === undefined ? {} : { abort }) }
  }
  throw new AssertionError(`the record lacks what status ${status} has`)
}

function decodeBranch(record: BranchRecord | undefined): SagaBranchProgress {
  if (record === undefined) return UNTOUCHED
  return { action: decodeOp(record.a), compensate: decodeOp(record.c) }
}

function decodeOp(record: Partial<OpProgress> | undefined): OpProgress {
  return record === undefined ? IDLE : { ...IDLE, ...record }
}

const STATES: readonly unknown[] = ['idle', 'calling', 'waiting', 'succeeded', 'failed'] satisfies OpState[]

/** As much as the rules lean on: what is wrong here would hang or crash a step later. */
function assertShape(definition: Definition, record: ProgressRecord): void {
  const { kind, branches, retry } = definition
  assert(
    kind === 'saga' && Array.isArray(branches) && isObject(retry),
    'the definition is not one of a known kind',
  )
  assert(
    branches.every(
      (branch: unknown) => isObject(branch) && Array.isArray((branch as Partial<SagaBranch>).after),
    ),
    'a branch of the definition is not one',
  )
  const { b = [], abort } = record
  assert(Array.isArray(b) && b.every(isBranchRecord), 'the progress of a branch is not one')
  assert(
    abort === undefined || (isObject(abort) && Array.isArray(abort.branches)),
    'the abort decision is not one',
  )
}

function isBranchRecord(value: unknown): value is BranchRecord {
  return isObject(value) && [(value as BranchRecord).a, (value as BranchRecord).c].every(isOpRecord)
}

function isOpRecord(value: unknown): boolean {
  if (value === undefined) return true
  if (!isObject(value)) return false
  const { state = 'idle', attempts = 0, nextAt = 0 } = value as Partial<OpProgress>
  return STATES.includes(state) && Number.isInteger(attempts) && typeof nextAt === 'number'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseRecord(text: string, what: string): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new AssertionError(`the ${what} is not JSON`)
  }
  if (typeof value !== 'object' || value === null) throw new AssertionError(`the ${what} is not an object`)
  return value
}
