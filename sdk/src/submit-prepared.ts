import type { TransactionView } from '@counterstep/protocol'
import { sendCommandAgain } from './attempt-doubt.ts'
import type { SubmitOptions } from './options.ts'
import { buildPreferWait } from './prefer-wait.ts'
import type { Setup } from './setup.ts'
import { readTransaction, transactionPath } from './transaction.ts'

/**
 * Submits a prepared transaction. A second submit changes nothing, so an attempt whose answer was lost can be
 * repeated.
 */
export async function submitPrepared(
  { send, serverCount, timeoutMs, retryForMs }: Setup,
  gid: string,
  { waitMs = 0, signal, ...options }: SubmitOptions,
): Promise<TransactionView> {
  const { headers, longerMs } = buildPreferWait(waitMs)
  const path = `${transactionPath(gid)}/submit`
  const request = { method: 'POST', path, headers, timeoutMs: timeoutMs + longerMs, signal, gid } as const
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal }
  return sendCommandAgain(gid, async () => readTransaction(await send(request), gid), persistence)
}
