import { randomUUID } from 'node:crypto'
import type { SubmitRequest, TransactionPage, TransactionView } from '@counterstep/protocol'
import { type Balances, type Bank, keyOf } from './bank-client.ts'

export interface Transfer {
  readonly from: Bank
  readonly fromAccount: string
  readonly to: Bank
  readonly toAccount: string
  readonly amountCents: number
}

const WAIT_SECONDS = 20

/** From the richer to the other, so that any number of demos leaves both with money. */
export function transferThatSucceeds(
  bankA: Bank,
  bankB: Bank,
  balances: Balances,
  amountCents: number,
): Transfer {
  const alice = balances.get(keyOf('alice', bankA.name)) ?? 0
  const bob = balances.get(keyOf('bob', bankB.name)) ?? 0
  return alice >= bob
    ? { from: bankA, fromAccount: 'alice', to: bankB, toAccount: 'bob', amountCents }
    : { from: bankB, fromAccount: 'bob', to: bankA, toAccount: 'alice', amountCents }
}

/** The second bank refuses a frozen account, so what the first one did is undone. */
export function transferThatFails(bankA: Bank, bankB: Bank, amountCents: number): Transfer {
  return { from: bankA, fromAccount: 'carol', to: bankB, toAccount: 'frozen', amountCents }
}

export function toRequest({ from, fromAccount, to, toAccount, amountCents }: Transfer): SubmitRequest {
  return {
    branches: [
      {
        id: 'debit',
        action: `${from.url}/debit`,
        compensation: `${from.url}/debit-undo`,
        payload: { account: fromAccount, amountCents },
      },
      {
        id: 'credit',
        action: `${to.url}/credit`,
        compensation: `${to.url}/credit-undo`,
        payload: { account: toAccount, amountCents },
      },
    ],
  }
}

/** Submits it under a fresh gid and waits for its end. */
export async function play(orchestratorUrl: string, transfer: Transfer): Promise<TransactionView> {
  const response = await fetch(`${orchestratorUrl}/v1/transactions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: `wait=${WAIT_SECONDS}` },
    body: JSON.stringify({ gid: `demo-${randomUUID()}`, ...toRequest(transfer) }),
    signal: AbortSignal.timeout((WAIT_SECONDS + 10) * 1_000),
  })
  const text = await response.text()
  if (response.status === 200) return JSON.parse(text) as TransactionView
  if (response.status === 202) throw new Error(`The transfer did not end within ${WAIT_SECONDS} s: ${text}`)
  throw new Error(`The orchestrator answers ${response.status} to a transfer: ${text}`)
}

/** How many transactions of earlier runs have not ended yet. */
export async function countUnfinished(orchestratorUrl: string): Promise<number> {
  const url = `${orchestratorUrl}/v1/transactions?status=prepared,submitted,aborting&limit=100`
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) })
  if (!response.ok)
    throw new Error(`The orchestrator answers ${response.status} when asked for its transactions.`)
  const { items } = (await response.json()) as TransactionPage
  return items.length
}
