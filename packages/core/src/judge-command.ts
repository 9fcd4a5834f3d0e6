/** What has come of a command that was given where its transaction runs, and that the run had saved. */
import type { Command } from './events.ts'
import { isDone, type Refusal, refusalOf } from './refuse-command.ts'
import type { Run } from './run.ts'

/** `again`: another node's command has taken back what it had come to. */
type CommandVerdict = 'done' | 'again' | Refusal

/**
 * To be asked once the save that the command asked for is durable: only that says that what stood there then was this
 * run's. A command that asked for none, since it was done or refused as this node remembers it, is for the row to answer.
 * It looks at what is durable alone: what came meanwhile may be in memory only, though it is the very thing that was
 * asked for.
 */
export function judgeCommand(
  { durableTransaction }: Pick<Run, 'durableTransaction'>,
  command: Command,
): CommandVerdict {
  if (isDone(durableTransaction, command)) return 'done'
  return refusalOf(durableTransaction, command) ?? 'again'
}
