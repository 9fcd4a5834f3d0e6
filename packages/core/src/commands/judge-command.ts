/** Judges the result of a command that was given on the node that runs its transaction. */
import type { Command } from '../rules/events.ts'
import type { Run } from '../run/run.ts'
import { type CommandRefusal, findRefusal, isDone } from './refuse-command.ts'

/**
 * `again`: another node's command has undone the effect of this one, so this one must be given again. `ask-store`: the
 * state in this node's memory says that the command is done or refused, but that state may be old, so the stored row
 * must decide.
 */
type CommandVerdict = 'done' | 'again' | 'ask-store' | CommandRefusal

/**
 * Judges a command once the state that includes it is durable. Only the durable state counts: a later change may be in
 * memory only, even if it is the effect of the command. `isSaved` says that the command itself made a strong change;
 * without one, no save shows that the state was still this run's own.
 */
export function judgeCommand(
  { durableTransaction }: Pick<Run, 'durableTransaction'>,
  command: Command,
  isSaved: boolean,
  storeNow: number,
): CommandVerdict {
  if (!isSaved) return 'ask-store'
  if (isDone(durableTransaction, command)) return 'done'
  return findRefusal(durableTransaction, command, storeNow) ?? 'again'
}
