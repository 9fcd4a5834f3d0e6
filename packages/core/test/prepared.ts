/** Builds TCCs and two-phase messages for the tests, and the core's events that happen to them. */
import type { BranchId, Gid, Result } from '@counterstep/protocol'
import type { MessageDefinition, TccBranch, TccDefinition, XaBranch } from '../src/definition.ts'
import type { BranchAnswer } from '../src/ports/ports.ts'
import type { CallKey, Command, TransactionEffect, TransactionEvent } from '../src/rules/events.ts'
import {
  type CalledOp,
  IDLE,
  type MessageTransaction,
  type RecordedTransaction,
  type StepRecord,
  type TccTransaction,
  type Transaction,
  UNCONFIRMED,
  UNDECIDED,
  UNDELIVERED,
  type XaTransaction,
} from '../src/transaction.ts'
import { type Answered, buildAnswer, CREATED_AT, RETRY } from './sagas.ts'
import { transition } from './transition.ts'

export const TCC_DEADLINE_MS = 10_000
export const CHECK_AFTER_MS = 10_000
/** The position that stands for the query-back. */
export const CHECK_AT = -1

export const SUBMIT = { type: 'submit-asked' } as const
export const ABORT = { type: 'abort-asked' } as const
export const RETRY_NOW = { type: 'retry-asked' } as const
export const STOP = { type: 'stop-asked' } as const
export const TIME = { type: 'time' } as const

const COMMON = {
  gid: 'order-4711' as Gid,
  digest: 'd'.repeat(64),
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
  epoch: 1,
  sentUnknown: false,
  manualRetries: 0,
  claimsUnanswered: 0,
}

/** Builds a branch as a client registers it: 01, 02, … */
export function tccBranchAt(position: number, change: Partial<TccBranch> = {}): TccBranch {
  const id = String(position + 1).padStart(2, '0') as BranchId
  return {
    id,
    confirm: `http://bank.test/${id}/confirm`,
    cancel: `http://bank.test/${id}/cancel`,
    body: '{}',
    contentType: 'application/json',
    headers: {},
    ...change,
  }
}

export function register(position: number, change: Partial<TccBranch> = {}): Command {
  return { type: 'register-asked', branch: tccBranchAt(position, change) }
}

/** Builds a prepared TCC with this many branches. */
export function buildTcc(
  count: number,
  settings: Partial<TccDefinition> = {},
  branch: Partial<TccBranch> = {},
): TccTransaction {
  return {
    ...COMMON,
    kind: 'tcc',
    status: 'prepared',
    definition: {
      kind: 'tcc',
      retry: RETRY,
      timeoutMs: 10_000,
      checkpointMs: 1_000,
      deadlineMs: TCC_DEADLINE_MS,
      headers: {},
      ...settings,
    },
    registered: Array.from({ length: count }, (_, position) => tccBranchAt(position, branch)),
    branches: Array.from({ length: count }, () => UNCONFIRMED),
  }
}

export function xaBranchAt(position: number): XaBranch {
  const { confirm: _confirm, cancel: _cancel, ...target } = tccBranchAt(position)
  return { ...target, body: '', url: `http://bank.test/${target.id}` }
}

/** Builds a prepared XA with this many branches. */
export function buildXa(count: number): XaTransaction {
  const { definition, registered: _registered, branches: _branches, ...rest } = buildTcc(0)
  return {
    ...rest,
    kind: 'xa',
    status: 'prepared',
    definition: { ...definition, kind: 'xa' },
    registered: Array.from({ length: count }, (_, position) => xaBranchAt(position)),
    branches: Array.from({ length: count }, () => UNDECIDED),
  }
}

/** Builds a prepared message, which has a query-back. */
export function buildMessage(count: number, settings: Partial<MessageDefinition> = {}): MessageTransaction {
  return {
    ...buildPlainMessage(count, {
      check: { url: 'http://bank.test/query', afterMs: CHECK_AFTER_MS, headers: {} },
      ...settings,
    }),
    status: 'prepared',
  }
}

/** Builds a message without a query-back, which is submitted from the start. */
export function buildPlainMessage(
  count: number,
  settings: Partial<MessageDefinition> = {},
): MessageTransaction {
  const branches = Array.from({ length: count }, (_, position) => {
    const { confirm: action, cancel: _cancel, ...target } = tccBranchAt(position)
    return { ...target, action: action.replace('confirm', 'action') }
  })
  return {
    ...COMMON,
    kind: 'message',
    status: 'submitted',
    definition: {
      kind: 'message',
      retry: RETRY,
      timeoutMs: 10_000,
      checkpointMs: 1_000,
      concurrent: false,
      branches,
      ...settings,
    },
    check: IDLE,
    branches: branches.map(() => UNDELIVERED),
  }
}

/** Builds a recorded workflow whose client has reported this many steps. */
export function buildRecorded(count = 0): RecordedTransaction {
  return {
    ...COMMON,
    kind: 'recorded',
    status: 'prepared',
    definition: {
      kind: 'recorded',
      retry: RETRY,
      timeoutMs: 10_000,
      checkpointMs: 1_000,
      workflow: 'order',
      callback: { url: 'http://shop.test/resume', body: '{}', contentType: 'application/json', headers: {} },
    },
    check: IDLE,
    branches: [],
    records: Array.from({ length: count }, (_, position) => recordAt(position)),
  }
}

export function recordAt(position: number, change: Partial<StepRecord> = {}): StepRecord {
  const id = String(position + 1).padStart(2, '0') as BranchId
  return { branchId: id, op: 'action', status: 'succeeded', data: '{}', ...change }
}

export function report(position: number, change: Partial<StepRecord> = {}): Command {
  return { type: 'record-asked', record: recordAt(position, change) }
}

export const END = { type: 'end-asked', end: { status: 'succeeded', result: 'ok' } } as const
export const END_FAILED = { type: 'end-asked', end: { status: 'failed', reason: 'no funds' } } as const

export function sending(...calls: readonly (readonly [branch: number, op: CalledOp])[]): TransactionEvent {
  return { type: 'sent', calls: calls.map(([branch, op]) => ({ branch, op })) }
}

export function answering(
  branch: number,
  op: CalledOp,
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

/** Folds the events in, all at one instant. The kind stays. */
export function folded<T extends Transaction>(
  given: T,
  events: readonly TransactionEvent[],
  now = CREATED_AT,
): T {
  let next: Transaction = given
  for (const event of events) next = transition(next, event, now).next
  if (next.kind !== given.kind) throw new Error('it has changed its kind')
  return next as T
}

export function callsIn(effects: readonly TransactionEffect[]): readonly CallKey[] {
  return effects.flatMap((effect) => (effect.type === 'call' ? [effect.call] : []))
}

/** Writes a call as `01 confirm`, or `msg` for the query-back. */
export function callText({ branch, op }: CallKey): string {
  return branch === CHECK_AT ? op : `${String(branch + 1).padStart(2, '0')} ${op}`
}

/** Writes effects as `call 01 confirm, wake +200`. Instants count from the accept. */
export function effectsAsText(effects: readonly TransactionEffect[]): string {
  if (effects.length === 0) return '-'
  return effects
    .map((effect) => {
      if (effect.type === 'call') return `call ${callText(effect.call)}`
      return `wake +${effect.at - CREATED_AT}`
    })
    .join(', ')
}
