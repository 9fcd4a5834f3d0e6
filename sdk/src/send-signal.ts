import type { SignalView } from '@counterstep/protocol'
import { sendCommandAgain } from './attempt-doubt.ts'
import { UnavailableError } from './errors.ts'
import type { SignalOptions } from './options.ts'
import { isRecord } from './problem-error.ts'
import type { Setup } from './setup.ts'
import { toJson } from './to-json.ts'
import { transactionPath } from './transaction.ts'

/** Sends a signal. All attempts have the same id, so the server takes them for one signal, also after the end. */
export async function sendSignal(
  { send, serverCount, timeoutMs, retryForMs }: Setup,
  gid: string,
  name: string,
  payload: unknown,
  { id = crypto.randomUUID(), signal, ...options }: SignalOptions,
): Promise<SignalView> {
  const sent = {
    method: 'POST',
    path: `${transactionPath(gid)}/signals/${encodeURIComponent(name)}`,
    body: toJson(payload === undefined ? { id } : { id, payload }, gid),
    timeoutMs,
    signal,
    gid,
  } as const
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal }
  return sendCommandAgain(gid, async () => readSignalView(await send(sent), gid), persistence)
}

/** Checks just enough to know that our server answered about this transaction. */
function readSignalView(value: unknown, gid: string): SignalView {
  if (isSignalView(value) && value.gid === gid) return value
  throw new UnavailableError('SAGA_UNREACHABLE', `the answer was not that of a signal to ${gid}`, { gid })
}

function isSignalView(value: unknown): value is SignalView {
  return (
    isRecord(value) && typeof value.id === 'string' && (value.state === 'taken' || value.state === 'kept')
  )
}
