import { type Client, type Saga, saga, type TransactionView } from '@counterstep/sdk'
import type { TransferPart } from './transfer-part.ts'

const DEADLINE_MS = 60_000
const WAIT_MS = 10_000

export interface Transfer {
  /** An account of the debit service. */
  readonly from: string
  /** An account of the credit service. */
  readonly to: string
  readonly cents: number
}

/** Where the orchestrator finds the two services. */
export interface ServiceUrls {
  readonly debitUrl: string
  readonly creditUrl: string
}

/** First the debit, then the credit; if the credit is refused, the debit is undone. One value is one transfer. */
export function transferSaga({ from, to, cents }: Transfer, { debitUrl, creditUrl }: ServiceUrls): Saga {
  return saga({ deadlineMs: DEADLINE_MS })
    .branch('debit', {
      action: `${debitUrl}/debit`,
      compensation: `${debitUrl}/debit-undo`,
      payload: { account: from, cents } satisfies TransferPart,
    })
    .branch('credit', {
      action: `${creditUrl}/credit`,
      compensation: `${creditUrl}/credit-undo`,
      payload: { account: to, cents } satisfies TransferPart,
    })
}

/** Resolves when the transfer is done, or undone. After an error it may be submitted again: its gid is the same. */
export async function submitTransfer(client: Client, transfer: Saga): Promise<TransactionView> {
  const view = await client.submit(transfer, { waitMs: WAIT_MS })
  return view.finishedAt === undefined ? client.wait(transfer.gid) : view
}
