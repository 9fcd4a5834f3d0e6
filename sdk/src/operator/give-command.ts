import type { TransactionView } from '@counterstep/protocol'
import { sendCommandAgain } from '../attempt-doubt.ts'
import { buildPreferWait } from '../prefer-wait.ts'
import type { Setup } from '../setup.ts'
import { toJson } from '../to-json.ts'
import { readTransaction, transactionPath } from '../transaction.ts'
import type { AbortCommandOptions, OpName } from './command-options.ts'

/** One command: the end of its path, and the fields of its own. */
export interface Command {
  readonly gid: string
  readonly verb: 'retry' | 'pause' | 'resume' | 'abort' | 'stop' | 'skip' | 'edit'
  readonly op?: OpName
  readonly fields?: object
}

/** Gives a command. All attempts have the same command id, so the server takes them for one command. */
export function giveCommand(
  { send, serverCount, timeoutMs, retryForMs }: Setup,
  { gid, verb, op, fields }: Command,
  { signal, commandId = crypto.randomUUID(), waitMs = 0, reason, planId, ...options }: AbortCommandOptions,
): Promise<TransactionView> {
  const { headers, longerMs } = buildPreferWait(waitMs)
  const request = {
    method: 'POST',
    path: op === undefined ? `${transactionPath(gid)}/${verb}` : `${opPath(gid, op)}/${verb}`,
    headers,
    // A field that is undefined is left out.
    body: toJson({ commandId, reason, planId, ...fields }, gid),
    timeoutMs: timeoutMs + longerMs,
    signal,
    gid,
  } as const
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal }
  return sendCommandAgain(gid, async () => readTransaction(await send(request), gid), persistence)
}

function opPath(gid: string, { branchId, op }: OpName): string {
  return `${transactionPath(gid)}/ops/${encodeURIComponent(branchId)}/${encodeURIComponent(op)}`
}
