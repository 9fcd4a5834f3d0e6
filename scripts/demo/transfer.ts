import { type Saga, saga } from '@counterstep/sdk'
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
  return saga()
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
