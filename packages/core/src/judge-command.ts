/** What has come of a command that was given where its transaction runs. */
import type { Command } from './events.ts'
import { isDone, type Refusal, refusalOf } from './refuse-command.ts'
import type { Run } from './run.ts'

/** `again`: another node's command has taken back what stood in its way, or what it had come to. */
export type CommandVerdict = 'done' | 'again' | Refusal

/**
 * To be asked once what the run had with the command is durable. It looks at what is durable alone: what came meanwhile
 * may be in memory only, though it is the very thing that was asked for. `isGiven`: nothing in memory stood against it.
 */
export function judgeCommand(
  { durableTransaction }: Pick<Run, 'durableTransaction'>,
  command: Command,
  isGiven: boolean,
): CommandVerdict {
  if (isGiven && isDone(durableTransaction, command)) return 'done'
  return refusalOf(durableTransaction, command) ?? 'again'
}
