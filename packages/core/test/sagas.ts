/** Builds sagas for the tests, and the core's events that happen to them. */
import type { BranchId, Gid, Result, RetryPolicy } from '@counterstep/protocol'
import type { SagaBranch, SagaDefinition } from '../src/definition.ts'
import type { BranchAnswer } from '../src/ports/ports.ts'
import type { SentList, StoredTransaction } from '../src/ports/store.ts'
import { encodeDefinition, encodeProgress, FORMAT } from '../src/record/record.ts'
import type { TransactionEffect, TransactionEvent } from '../src/rules/events.ts'
import { type SagaOp, type SagaTransaction, type Transaction, UNTOUCHED } from '../src/transaction.ts'
import { transition } from './transition.ts'

/** When every transaction of the tests is accepted, by the store's clock. */
export const CREATED_AT = 1_000_000
export const RETRY: RetryPolicy = { initialMs: 200, factor: 2, capMs: 60_000, jitter: 0, limit: null }
export const TOKEN = 'a'.repeat(32)

export interface BranchPlan {
  readonly after?: readonly number[]
  readonly compensation?: false
  readonly retry?: Partial<RetryPolicy>
}

/** Builds branches 01, 02, … Without `after` each follows the one before. */
export function buildDefinition(
  plans: readonly BranchPlan[],
  settings: Partial<Omit<SagaDefinition, 'branches'>> = {},
): SagaDefinition {
  return {
    kind: 'saga',
    retry: RETRY,
    timeoutMs: 10_000,
    checkpointMs: 1_000,
    ...settings,
    branches: plans.map((plan, position) => buildBranch(plan, position)),
  }
}

function buildBranch(plan: BranchPlan, position: number): SagaBranch {
  const id = branchIdAt(position)
  return {
    id,
    action: `http://bank.test/${id}/action`,
    ...(plan.compensation === false ? {} : { compensation: `http://bank.test/${id}/compensate` }),
    body: '{}',
    contentType: 'application/json',
    after: plan.after ?? (position === 0 ? [] : [position - 1]),
    ...(plan.retry === undefined ? {} : { retry: { ...RETRY, ...plan.retry } }),
    headers: {},
  }
}

function branchIdAt(position: number): BranchId {
  return String(position + 1).padStart(2, '0') as BranchId
}

export function buildSaga(
  plans: readonly BranchPlan[],
  settings: Partial<Omit<SagaDefinition, 'branches'>> = {},
): SagaTransaction {
  return {
    kind: 'saga',
    status: 'submitted',
    gid: 'order-4711' as Gid,
    definition: buildDefinition(plans, settings),
    digest: 'd'.repeat(64),
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    epoch: 1,
    sentUnknown: false,
    manualRetries: 0,
    claimsUnanswered: 0,
    branches: plans.map(() => UNTOUCHED),
  }
}

/** Builds a saga with serial branches, each with a compensation. */
export function serial(
  count: number,
  settings: Partial<Omit<SagaDefinition, 'branches'>> = {},
): SagaTransaction {
  return buildSaga(
    Array.from({ length: count }, () => ({})),
    settings,
  )
}

/** Builds a saga with branches that all start at once. */
export function parallel(
  count: number,
  settings: Partial<Omit<SagaDefinition, 'branches'>> = {},
): SagaTransaction {
  return buildSaga(
    Array.from({ length: count }, () => ({ after: [] })),
    settings,
  )
}

export function buildAnswer(result: Result): BranchAnswer {
  switch (result) {
    case 'success':
      return { result, statusCode: 200 }
    case 'failure':
      return { result, statusCode: 409 }
    case 'ongoing':
      return { result, statusCode: 425 }
    case 'unknown':
      return { result, error: 'timeout' }
  }
}

export type Answered = Extract<TransactionEvent, { readonly type: 'answered' }>

export function answered(
  branch: number,
  op: SagaOp,
  result: Result,
  { attempt = 1, ...answer }: { attempt?: number } & Partial<BranchAnswer> = {},
): Answered {
  return {
    type: 'answered',
    call: { branch, op },
    attempt,
    answer: { ...buildAnswer(result), ...answer },
    durationMs: 7,
    jitter01: 0,
  }
}

export function sent(...calls: readonly (readonly [branch: number, op: SagaOp])[]): TransactionEvent {
  return { type: 'sent', calls: calls.map(([branch, op]) => ({ branch, op })) }
}

/** Narrows to a saga. */
export function asSaga(transaction: Transaction): SagaTransaction {
  if (transaction.kind !== 'saga') throw new Error(`it is a ${transaction.kind}`)
  return transaction
}

/** Folds the events in, all at one instant. */
export function after(
  transaction: Transaction,
  events: readonly TransactionEvent[],
  now = CREATED_AT,
): SagaTransaction {
  let next = asSaga(transaction)
  for (const event of events) next = asSaga(transition(next, event, now).next)
  return next
}

/** Calls each branch's next op and answers it, one at a time, until there is no more call to make. */
export function answerNext(given: Transaction, result: Result, now = CREATED_AT): SagaTransaction {
  const transaction = asSaga(given)
  const [call] = listCalls(transition(transaction, { type: 'time' }, now).effects)
  if (call === undefined) throw new Error('there is nothing to call')
  const [branch, op] = call
  const attempt = (transaction.branches[branch]?.[op].attempts ?? 0) + 1
  return after(transaction, [sent([branch, op]), answered(branch, op, result, { attempt })], now)
}

export function listCalls(effects: readonly TransactionEffect[]): readonly (readonly [number, SagaOp])[] {
  return effects.flatMap((effect) =>
    effect.type === 'call' ? [[effect.call.branch, effect.call.op as SagaOp] as const] : [],
  )
}

/** Writes effects as `call 01 action, wake +200`. Instants count from the accept. */
export function effectsText(effects: readonly TransactionEffect[]): string {
  return effects.length === 0 ? '-' : effects.map(effectText).join(', ')
}

function effectText(effect: TransactionEffect): string {
  switch (effect.type) {
    case 'call':
      return `call ${branchIdAt(effect.call.branch)} ${effect.call.op}`
    case 'wake-at':
      return `wake +${effect.at - CREATED_AT}`
  }
}

/** Builds the row that a store would have of the transaction. */
export function buildRow(transaction: Transaction, row: Partial<StoredTransaction> = {}): StoredTransaction {
  const sentList: SentList = transaction.sentUnknown ? 'unknown' : 'held'
  return {
    gid: transaction.gid,
    kind: transaction.kind,
    status: transaction.status,
    format: FORMAT,
    digest: transaction.digest,
    definition: encodeDefinition(transaction.definition),
    progress: encodeProgress(transaction),
    version: 1,
    token: TOKEN,
    epoch: transaction.epoch,
    writeId: 'w1',
    owned: true,
    sentList,
    claimsWithoutProgress: 0,
    retrying: false,
    attention: transaction.attention !== undefined,
    createdAt: transaction.createdAt,
    updatedAt: transaction.updatedAt,
    dueAt: CREATED_AT + 10_000,
    ...row,
  }
}
