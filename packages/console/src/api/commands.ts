import type { PlanView, PreviewRequest, TransactionView } from '@counterstep/protocol'
import type { CommandBody, CommandTarget } from '../commands/command-target.ts'
import { callApi } from './client.ts'
import { toTransactionPath } from './queries.ts'

export function toCommandPath({ gid, command, op }: CommandTarget): string {
  if (op === undefined) return toTransactionPath(gid, `/${command}`)
  const verb = command === 'retry-op' ? 'retry' : command
  return toTransactionPath(gid, `/ops/${encodeURIComponent(op.branchId)}/${op.op}/${verb}`)
}

export function previewCommand({ gid, ...command }: CommandTarget & Omit<PreviewRequest, 'command' | 'op'>) {
  return callApi<PlanView>(toTransactionPath(gid, '/preview'), { method: 'POST', body: command })
}

export function giveCommand(target: CommandTarget, body: CommandBody): Promise<TransactionView> {
  return callApi<TransactionView>(toCommandPath(target), { method: 'POST', body })
}

export function drawCommandId(): string {
  // `randomUUID` is not there on a page that came over plain HTTP from another machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
