import { nameOp } from '@counterstep/explain'
import type { OperatorCommand } from '@counterstep/protocol'
import type { CommandTarget } from './command-target.ts'

const VERBS: Readonly<Record<OperatorCommand, string>> = {
  retry: 'Retry',
  'retry-op': 'Retry',
  pause: 'Pause',
  resume: 'Resume',
  abort: 'Abort',
  submit: 'Submit',
  stop: 'Stop',
  skip: 'Skip',
  edit: 'Edit',
}

const CONSEQUENCES: Readonly<Record<OperatorCommand, string>> = {
  retry: 'What waits is called at once. The mark and the count of attempts that led to it begin anew.',
  'retry-op': 'This call is made at once. The waits of others stay as they are.',
  pause: 'No further call starts. A call that is in flight ends and counts.',
  resume: 'Calls go on where they were. A deadline that has passed meanwhile is decided now.',
  abort: 'Every branch that may have run is undone, the last one first.',
  submit: 'It is decided that the transaction goes forward.',
  stop: 'It ends as it is. Nothing is undone, and no call is made any more.',
  skip: 'The call is declared done, and the transaction goes on as if it had answered so.',
  edit: 'The call is made with another request from now on. Its attempts begin anew.',
}

/** Names what the command is for, so that the button says what it will act on. */
export function nameCommand({ gid, command, op }: CommandTarget): string {
  const object = op === undefined ? gid : `${nameOp(op.op, op.branchId)} in ${gid}`
  return `${VERBS[command]} ${object}`
}

export function describeConsequence(command: OperatorCommand): string {
  return CONSEQUENCES[command]
}

/** Where a mistake costs most, the reason is asked for even if the server would do without. */
export function needsReason(command: OperatorCommand): boolean {
  return command !== 'retry' && command !== 'retry-op' && command !== 'resume' && command !== 'submit'
}
