import type { SubmitRequest, SubmitView } from '@counterstep/protocol'
import type { SubmitOptions } from './client.ts'
import { CounterstepError } from './errors.ts'
import { newGid } from './gid.ts'
import type { Saga } from './saga.ts'
import { sendAgain } from './send-again.ts'
import type { Setup } from './setup.ts'
import { transactionOf } from './transaction.ts'

const WAIT_MS_MAX = 60_000

export async function submit(
  { send, timeoutMs, retryForMs }: Setup,
  transaction: Saga | SubmitRequest,
  { waitMs = 0, signal, ...options }: SubmitOptions,
): Promise<SubmitView> {
  if (!(waitMs >= 0 && waitMs <= WAIT_MS_MAX)) throw new RangeError('waitMs must be from 0 to 60,000')
  const request = 'request' in transaction ? transaction.request : transaction
  // Made on this side, so that an attempt whose answer is lost can be sent again as the same transaction.
  const gid = request.gid ?? newGid()
  const waitSeconds = Math.ceil(waitMs / 1000)
  const sent = {
    method: 'POST',
    path: '/v1/transactions',
    body: jsonOf({ ...request, gid }),
    headers: waitSeconds === 0 ? {} : { prefer: `wait=${waitSeconds}` },
    timeoutMs: timeoutMs + waitSeconds * 1000,
    signal,
    gid,
  } as const
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, signal }
  return sendAgain(async () => submitViewOf(await send(sent), gid), persistence)
}

function submitViewOf(value: unknown, gid: string): SubmitView {
  const ack = typeof value === 'object' && value !== null && 'ack' in value && value.ack === 'memory'
  return { ...transactionOf(value, gid), ack: ack ? 'memory' : 'durable' }
}

/** JSON.stringify would quietly turn NaN and Infinity into null. */
function jsonOf(request: SubmitRequest): string {
  return JSON.stringify(request, (key, value: unknown) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    throw new CounterstepError('SAGA_NUMBER_NOT_EXACT', `${key} is ${value}, which JSON cannot hold`, {
      meaning: 'failure',
      gid: request.gid,
    })
  })
}
