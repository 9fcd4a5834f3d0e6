import type { TransactionView } from '@counterstep/protocol'
import { UnavailableError } from './errors.ts'
import type { CallOptions } from './options.ts'
import { isRecord } from './problem-error.ts'
import { sendAgain } from './send-again.ts'
import type { Setup } from './setup.ts'

export function transactionPath(gid: string): string {
  return `/v1/transactions/${encodeURIComponent(gid)}`
}

export function fetchTransaction(
  { send, serverCount, timeoutMs, retryForMs }: Setup,
  gid: string,
  options: CallOptions,
): Promise<TransactionView> {
  const request = {
    method: 'GET',
    path: transactionPath(gid),
    timeoutMs,
    signal: options.signal,
    gid,
  } as const
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal: options.signal }
  return sendAgain(async () => readTransaction(await send(request), gid), persistence)
}

/** Checks just enough to know that our server answered about this transaction. The rest of the view is the server's own contract. */
export function readTransaction(value: unknown, gid: string): TransactionView {
  if (isTransaction(value) && value.gid === gid) return value
  throw new UnavailableError('SAGA_UNREACHABLE', `the answer was not the transaction ${gid}`, { gid })
}

function isTransaction(value: unknown): value is TransactionView {
  return (
    isRecord(value) &&
    typeof value.gid === 'string' &&
    typeof value.status === 'string' &&
    Array.isArray(value.branches)
  )
}

export function isFinal({ status }: TransactionView): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'stopped'
}
