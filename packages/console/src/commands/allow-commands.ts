import { isFinalStatus, type OperatorCommand, type OpView, type TransactionView } from '@counterstep/protocol'
import { mayDo, type Session } from '../api/may-do.ts'

export interface OfferedCommand {
  readonly command: OperatorCommand
  readonly words: string
  readonly hint: string
  /** Why the server would refuse it. */
  readonly refusal?: string
}

const RETRY = { command: 'retry', words: 'Retry now', hint: 'call at once what waits' } as const
const PAUSE = { command: 'pause', words: 'Pause', hint: 'no further call starts' } as const
const RESUME = { command: 'resume', words: 'Resume', hint: 'calls go on' } as const
const SUBMIT = { command: 'submit', words: 'Submit', hint: 'decide that it goes forward' } as const
const ABORT = { command: 'abort', words: 'Abort', hint: 'undo what may have run' } as const
const STOP = { command: 'stop', words: 'Stop', hint: 'end it as it is, nothing is undone' } as const

/** The commands for a whole transaction, the likeliest first. The server decides; this only foresees its refusals. */
export function allowCommands(
  view: TransactionView,
  session: Session | null | undefined,
): readonly OfferedCommand[] {
  if (isFinalStatus(view.status)) return []
  const decided = view.status === 'prepared' ? [SUBMIT] : []
  const commands = view.paused === undefined ? [RETRY, PAUSE] : [RESUME, RETRY]
  return [...commands, ...decided, ABORT, STOP].map((offered) => {
    const refusal = findRefusal(offered.command, view, session)
    return refusal === undefined ? offered : { ...offered, refusal }
  })
}

/**
 * The commands for one op. A timer that has begun is skipped, and a wait for a signal gets its signal elsewhere. The steps of a
 * workflow are its code's. A lost answer is given on the command line, since it is a text.
 */
export function allowOpCommands(
  { kind, status, branches }: TransactionView,
  branchId: string,
  { state }: Pick<OpView, 'state'>,
): readonly ('retry-op' | 'skip' | 'edit')[] {
  if (isFinalStatus(status)) return []
  const wait = branches.find(({ id }) => id === branchId)?.wait
  if (wait !== undefined) return wait.signal === undefined && state === 'open' ? ['skip'] : []
  return kind === 'workflow' ? [] : ['retry-op', 'skip', 'edit']
}

function findRefusal(
  command: OperatorCommand,
  view: TransactionView,
  session: Session | null | undefined,
): string | undefined {
  if (command === 'retry' && view.paused !== undefined) return 'it is paused: resume it first'
  if (command === 'abort' && view.status === 'aborting') return 'it is being undone already'
  if (command === 'abort' && view.noReturnAt !== undefined) return 'its pivot may have been called'
  const isUndone = view.kind === 'saga' || view.kind === 'workflow'
  if (command === 'abort' && !isUndone && view.status !== 'prepared') return 'it is decided already'
  return findMissingScope(command, session)
}

export function findMissingScope(
  command: OperatorCommand,
  session: Session | null | undefined,
): string | undefined {
  const needs = (words: string) => `your key lacks the scope ${words}`
  switch (command) {
    case 'abort':
      return mayDo(session, 'submit', 'operate', 'admin') ? undefined : needs('operate')
    case 'submit':
      return mayDo(session, 'submit') ? undefined : needs('submit')
    case 'stop':
    case 'skip':
      return mayDo(session, 'admin') ? undefined : needs('admin')
    case 'edit':
      return mayDo(session, 'admin') && mayDo(session, 'payloads') ? undefined : needs('admin or payloads')
    default:
      return mayDo(session, 'operate', 'admin') ? undefined : needs('operate')
  }
}
