/** What has come of a command that was given where its transaction runs. */
import { assert } from './errors.ts'
import type { Command } from './events.ts'
import { isDone, type Refusal, refusalOf } from './refuse-command.ts'
import type { Run } from './run.ts'

/**
 * `again`: another node's command has taken back what stood in its way, or what it had come to. `by-row`: nothing was to
 * be saved for it, so nothing has told this node whether what it remembers still is so: the row says.
 */
type CommandVerdict = 'done' | 'again' | 'by-row' | Refusal

/**
 * To be asked once what the run had with the command is durable. It looks at what is durable alone: what came meanwhile
 * may be in memory only, though it is the very thing that was asked for. `isGiven`: nothing in memory stood against it.
 * `isWaited`: a save had to come first.
 */
export function judgeCommand(
  { durableTransaction }: Pick<Run, 'durableTransaction'>,
  command: Command,
  { isGiven, isWaited }: { readonly isGiven: boolean; readonly isWaited: boolean },
): CommandVerdict {
  if (isGiven && !isWaited) return 'by-row'
  if (isGiven && isDone(durableTransaction, command)) return 'done'
  const refusal = refusalOf(durableTransaction, command)
  // To give it again would go round: what refused it in memory is durable.
  assert(refusal !== undefined || isWaited, 'a command that nothing durable stands against was refused')
  return refusal ?? 'again'
}
