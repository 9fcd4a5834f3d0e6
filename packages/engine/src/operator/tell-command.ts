import type { GivenCommand, TraceContext } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { EngineObserver } from '../observer.ts'

const REASON_SHOWN_MAX = 256

/**
 * Reports a command of an operator once it is durable. If the process dies before this, the trail has the command all the
 * same, and the log lacks it.
 */
export function tellCommand(
  observer: EngineObserver,
  gid: Gid,
  trace: TraceContext | undefined,
  command: GivenCommand,
): void {
  const { id, by, reason } = command.given
  const text = reason ?? ('reason' in command ? command.reason : undefined)
  const fields: Record<string, string> = {
    command: command.type.replace('-asked', ''),
    commandId: id,
    via: by.via,
  }
  if ('branchId' in command) fields.op = `${command.branchId} ${command.op}`
  if (by.key !== undefined) {
    fields.key = by.key.id
    fields.keyName = by.key.name
  }
  if (by.person !== undefined) fields.person = by.person
  if (text !== undefined) fields.reason = text.slice(0, REASON_SHOWN_MAX)
  observer.event({ level: 'info', name: 'operator-command', gid, trace, fields })
}
