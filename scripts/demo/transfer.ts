import { endpoint, type Saga, saga, signal } from '@counterstep/sdk'
import { type Balances, type Bank, toKey } from './bank-client.ts'

export interface Transfer {
  readonly from: Bank
  readonly fromAccount: string
  readonly to: Bank
  readonly toAccount: string
  readonly amountCents: number
}

/** The richer account pays the other, so that any number of demos leaves both with money. */
export function transferThatSucceeds(
  bankA: Bank,
  bankB: Bank,
  balances: Balances,
  amountCents: number,
): Transfer {
  const alice = balances.get(toKey('alice', bankA.name)) ?? 0
  const bob = balances.get(toKey('bob', bankB.name)) ?? 0
  return alice >= bob
    ? { from: bankA, fromAccount: 'alice', to: bankB, toAccount: 'bob', amountCents }
    : { from: bankB, fromAccount: 'bob', to: bankA, toAccount: 'alice', amountCents }
}

/** The second bank refuses a frozen account, so what the first one did is undone. */
export function transferThatFails(bankA: Bank, bankB: Bank, amountCents: number): Transfer {
  return { from: bankA, fromAccount: 'carol', to: bankB, toAccount: 'frozen', amountCents }
}

export function toSaga({ from, fromAccount, to, toAccount, amountCents }: Transfer): Saga {
  return saga({ name: 'transfer' })
    .branch('debit', {
      action: `${from.url}/debit`,
      compensation: `${from.url}/debit-undo`,
      payload: { account: fromAccount, amountCents },
    })
    .branch('credit', {
      action: `${to.url}/credit`,
      compensation: `${to.url}/credit-undo`,
      payload: { account: toAccount, amountCents },
    })
}

/** The approval of a transfer, with the name of who gave it. */
export const approval = signal<{ by: string }>('approval')

interface Payment {
  readonly account: string
  readonly amountCents: number
}

/**
 * The money is held first, and its hold waits for an approval. The capture gets the id of the hold from the branch before
 * it. It is the pivot: once it has succeeded the money moves, so the credit behind it is asked until it succeeds.
 */
export function toApprovedSaga({ from, fromAccount, to, toAccount, amountCents }: Transfer) {
  const hold = endpoint<Payment, { holdId: string }, 'INSUFFICIENT_FUNDS'>(`${from.url}/holds`)
  const release = endpoint<void, void>(`${from.url}/holds/release`)
  const capture = endpoint<void, void, 'HOLD_NOT_OPEN'>(`${from.url}/holds/{holdId}/capture`)
  const credit = endpoint<Payment, void>(`${to.url}/credit`)
  return saga({ name: 'approved-transfer' })
    .branch('hold', hold, {
      payload: { account: fromAccount, amountCents },
      undo: () => ({ to: release }),
    })
    .signal('approved', approval, { timeoutMs: 3_600_000, onTimeout: 'abort' })
    .pivot('capture', capture, ({ hold }) => ({ at: { holdId: hold.holdId } }))
    .retriable('credit', credit, { payload: { account: toAccount, amountCents } })
}
