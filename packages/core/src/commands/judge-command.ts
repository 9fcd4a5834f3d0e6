/** What has come of a command that was given where its transaction runs. */
import type { Command } from '../rules/events.ts'
import type { Run } from '../run/run.ts'
import { isDone, type Refusal, refusalOf } from './refuse-command.ts'

/**
 * `again`: another node's command has taken back what it had come to. `by-row`: it was done or refused as this node
 * remembers it, which may be old; the row says.
 */
type CommandVerdict = 'done' | 'again' | 'by-row' | Refusal

/**
 * To be asked once what the run had with the command is durable. It looks at what is durable alone: what came meanwhile
 * may be in memory only, though it is the very thing that was asked for. `isSaved`: the command itself asked for a save,
 * and nothing else says that what stood there then was this run's.
 */
export function judgeCommand(
  { durableTransaction }: Pick<Run, 'durableTransaction'>,
  command: Command,
  isSaved: boolean,
): CommandVerdict {
  if (!isSaved) return 'by-row'
  if (isDone(durableTransaction, command)) return 'done'
  return refusalOf(durableTransaction, command) ?? 'again'
}
