/**
 * Wrong orchestrators and wrong worlds, to see that the auditor bites. All of it is wiring in here: the production
 * code has no switch for it.
 */
import { RULES, type Rules, type SagaTransaction, type TransactionEffect } from '@counterstep/core'

import {
  alwaysConcurrent,
  askAtOnce,
  cancelAfterFailure,
  cancelAfterSubmit,
  deliverWhilePrepared,
  dropRegistered,
  oldestFirst,
  ongoingCheckIsSuccess,
  submitLazily,
  unknownCheckIsFailure,
} from './prepared-mutants.ts'

export interface Wiring {
  readonly rules: Rules
  /** The store gives a claimer the token that the row had. */
  readonly reusesTokens: boolean
  /** The store applies every update, whatever token and version it names. */
  readonly ignoresTokens: boolean
  /** The store counts its versions on from where it is after it has lost its tail. */
  readonly reissuesVersions: boolean
  /** The node runs a transaction before its accept has been answered. */
  readonly actsBeforeAccept: boolean
  /** The node tells the end as soon as it has decided it. */
  readonly tellsEarly: boolean
  /** A run that reads its row again overlooks branches that another node has registered. */
  readonly overlooksBranches: boolean
  readonly barrier:
    | 'right'
    | 'no-null-compensation'
    | 'no-anti-hanging'
    | 'no-idempotency'
    | 'no-rollback-row'
}

export const RIGHT: Wiring = {
  rules: RULES,
  reusesTokens: false,
  ignoresTokens: false,
  reissuesVersions: false,
  actsBeforeAccept: false,
  tellsEarly: false,
  overlooksBranches: false,
  barrier: 'right',
}

const recordedOnly: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const sure = transaction.sentUnknown ? { ...transaction, sentUnknown: false } : transaction
    const asked = event.type === 'claimed' ? { ...event, sentUnknown: false } : event
    const folded = RULES.fold(sure, asked, now)
    return folded.next === sure ? { ...folded, next: transaction } : folded
  },
}

const abortLazily: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const turned = transaction.status === 'submitted' && folded.next.status === 'aborting'
    return turned ? { ...folded, durability: 'lazy' } : folded
  },
}

const unknownIsFailure: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    if (event.type !== 'answered' || event.call.op !== 'action' || event.answer.result !== 'unknown')
      return RULES.fold(transaction, event, now)
    return RULES.fold(transaction, { ...event, answer: { ...event.answer, result: 'failure' } }, now)
  },
}

const compensateForward: Rules = {
  ...RULES,
  effects(transaction, now) {
    if (transaction.kind !== 'saga' || transaction.status !== 'aborting')
      return RULES.effects(transaction, now)
    return forwardCompensations(transaction, transaction.abort.branches, now)
  },
}

function forwardCompensations(
  saga: SagaTransaction,
  undo: readonly number[],
  now: number,
): TransactionEffect[] {
  for (const branch of undo) {
    const progress = saga.branches[branch]
    if (progress === undefined || saga.definition.branches[branch]?.compensation === undefined) continue
    if (progress.compensate.state === 'succeeded') continue
    if (progress.compensate.state === 'calling' || progress.action.state === 'calling') return []
    const { nextAt = 0 } = progress.compensate
    return nextAt > now
      ? [{ type: 'wake-at', at: nextAt }]
      : [{ type: 'call', call: { branch, op: 'compensate' } }]
  }
  return []
}

export const MUTANTS: Readonly<Record<string, Wiring>> = {
  'recorded-only': { ...RIGHT, rules: recordedOnly },
  'abort-lazily': { ...RIGHT, rules: abortLazily },
  'act-before-accept': { ...RIGHT, actsBeforeAccept: true },
  'token-reused': { ...RIGHT, reusesTokens: true },
  'told-early': { ...RIGHT, tellsEarly: true },
  'compensate-forward': { ...RIGHT, rules: compensateForward },
  'unknown-is-failure': { ...RIGHT, rules: unknownIsFailure },
  'token-ignored': { ...RIGHT, ignoresTokens: true },
  'version-reissued': { ...RIGHT, reissuesVersions: true },
  'no-null-compensation': { ...RIGHT, barrier: 'no-null-compensation' },
  'no-anti-hanging': { ...RIGHT, barrier: 'no-anti-hanging' },
  'no-idempotency': { ...RIGHT, barrier: 'no-idempotency' },
  'drop-on-learn': { ...RIGHT, overlooksBranches: true },
  'cancel-after-submit': { ...RIGHT, rules: cancelAfterSubmit },
  'cancel-after-failure': { ...RIGHT, rules: cancelAfterFailure },
  'oldest-first': { ...RIGHT, rules: oldestFirst },
  'submit-lazily': { ...RIGHT, rules: submitLazily },
  'drop-registered': { ...RIGHT, rules: dropRegistered },
  'unknown-check-is-failure': { ...RIGHT, rules: unknownCheckIsFailure },
  'ongoing-check-is-success': { ...RIGHT, rules: ongoingCheckIsSuccess },
  'deliver-while-prepared': { ...RIGHT, rules: deliverWhilePrepared },
  'ask-at-once': { ...RIGHT, rules: askAtOnce },
  'always-concurrent': { ...RIGHT, rules: alwaysConcurrent },
  'no-rollback-row': { ...RIGHT, barrier: 'no-rollback-row' },
}

export function wiringOf(mutant: string | undefined): Wiring {
  if (mutant === undefined) return RIGHT
  const wiring = MUTANTS[mutant]
  if (wiring === undefined)
    throw new RangeError(`no mutant ${mutant}; there are ${Object.keys(MUTANTS).join(', ')}`)
  return wiring
}
