import type { Branch } from '@counterstep/sdk'
import { makeToken } from '../tokens/token.ts'
import { type TransferPayload, UNKNOWN } from './transfer-payload.ts'

/** The row of a hold: so much was added to the account when the hold was made. */
export interface Hold {
  readonly id: string
  readonly account: string
  readonly cents: number
}

/** All that one call writes: an amount on one account, perhaps a hold, and the call's answer. */
export interface Entry {
  readonly account: string
  readonly cents: number
  readonly newHold?: Hold
  readonly answer?: Answer
}

/** An answer with a value that other branches use. */
export type Answer = Readonly<Record<'id', string>>

type BankBranch = Branch<TransferPayload, Answer>

/** One thing that a bank does for sagas, and its undoing. */
export interface BankWork {
  /** Returns the id of the hold that must stand for this call, if there must be one. */
  findHoldId(branch: BankBranch): string | undefined
  toEntry(branch: BankBranch, hold: Hold | undefined): Entry
}

/** Moves an amount to an account, or back. */
export const TRANSFER: BankWork = {
  findHoldId: () => undefined,
  toEntry: ({ op, payload: { account, cents } }) => ({ account, cents: isUndo(op) ? -cents : cents }),
}

/** Takes an amount from an account under a new id. Its undoing gives back what stands under the id. */
export const HOLD: BankWork = {
  findHoldId: ({ op, payload, original }) => (isUndo(op) ? agree(payload.hold, original) : undefined),
  toEntry({ payload: { account, cents } }, hold) {
    if (hold !== undefined) return { account: hold.account, cents: -hold.cents }
    const id = makeToken('hold')
    return { account, cents, newHold: { id, account, cents }, answer: { id } }
  },
}

/** Pays what stands under the id of a hold. Its undoing takes back the payment that it names. */
export const CAPTURE: BankWork = {
  findHoldId: ({ op, payload }) => (isUndo(op) ? undefined : (payload.hold ?? '')),
  toEntry({ payload: { account, cents, payment }, original }, hold) {
    if (hold !== undefined) return { account, cents: -hold.cents, answer: { id: makeToken('payment') } }
    agree(payment === UNKNOWN ? null : payment, original)
    return { account, cents: -cents }
  },
}

function isUndo(op: Branch['op']): boolean {
  return op === 'compensate' || op === 'cancel'
}

/** Returns what both the orchestrator and the barrier say that the action has answered. */
function agree(told: string | null | undefined, original: Answer | undefined): string {
  if (original === undefined) throw new Error('an undo does not know what its action has answered')
  if (told !== null && told !== original.id)
    throw new Error(`an undo is told ${told}, and its action has answered ${original.id}`)
  return original.id
}
