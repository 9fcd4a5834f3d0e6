import type { SubmitRequest, SubmitView } from '@counterstep/protocol'
import { isOfOtherContent, sendInDoubt } from './attempt-doubt.ts'
import { newGid } from './gid.ts'
import type { SubmitOptions } from './options.ts'
import { buildPreferWait } from './prefer-wait.ts'
import type { BuiltSaga } from './saga-builder.ts'
import type { Setup } from './setup.ts'
import { toJson } from './to-json.ts'
import { readTransaction } from './transaction.ts'

export async function submit(
  { send, serverCount, timeoutMs, retryForMs }: Setup,
  transaction: BuiltSaga | SubmitRequest,
  { waitMs = 0, signal, ...options }: SubmitOptions,
): Promise<SubmitView> {
  const { headers, longerMs } = buildPreferWait(waitMs)
  const request = 'request' in transaction ? transaction.request : transaction
  // The gid is made on this side, so that an attempt whose answer is lost can be sent again as the same transaction.
  const gid = request.gid ?? newGid()
  const sent = {
    method: 'POST',
    path: '/v1/transactions',
    body: toJson({ ...request, gid }, gid),
    headers,
    timeoutMs: timeoutMs + longerMs,
    signal,
    gid,
  } as const
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal }
  return sendInDoubt(gid, isOfOtherContent, async () => readSubmitView(await send(sent), gid), persistence)
}

function readSubmitView(value: unknown, gid: string): SubmitView {
  const ack = typeof value === 'object' && value !== null && 'ack' in value && value.ack === 'memory'
  return { ...readTransaction(value, gid), ack: ack ? 'memory' : 'durable' }
}
