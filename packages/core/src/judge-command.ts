/** What has come of a command that was given where its transaction runs. */
import { assert } from './errors.ts'
import type { Command } from './events.ts'
import { isDone, type Refusal, refusalOf } from './refuse-command.ts'
import type { Run } from './run.ts'

/** `again`: another node's command has taken back what stood in its way, or what it had come to. */
type CommandVerdict = 'done' | 'again' | Refusal

/**
 * To be asked once what the run had with the command is durable. It looks at what is durable alone: what came meanwhile
 * may be in memory only, though it is the very thing that was asked for. `isGiven`: nothing in memory stood against it.
 * `isWaited`: a save had to come first. Without one nobody can have come between: to give it again would go round.
 */
export function judgeCommand(
  { durableTransaction }: Pick<Run, 'durableTransaction'>,
  command: Command,
  { isGiven, isWaited }: { readonly isGiven: boolean; readonly isWaited: boolean },
): CommandVerdict {
  if (isGiven && isDone(durableTransaction, command)) return 'done'
  const refusal = refusalOf(durableTransaction, command)
  assert(refusal !== undefined || isWaited, 'a command that nothing stood against has come to nothing')
  return refusal ?? 'again'
}
