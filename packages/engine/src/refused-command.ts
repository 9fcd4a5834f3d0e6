import { CONFIRMATION, type Command, type CommandRefusal, REGISTERED_BYTES_MAX } from '@counterstep/core'
import {
  EDITS_BYTES_MAX,
  type Gid,
  SIGNALS_KEPT_BYTES_MAX,
  SIGNALS_KEPT_MAX,
  type Status,
} from '@counterstep/protocol'
import { TransactionError } from './transaction-error.ts'

export const REFUSAL_CODES = {
  'already-final': 'SAGA_ALREADY_FINAL',
  'not-prepared': 'SAGA_NOT_PREPARED',
  'wrong-kind': 'SAGA_WRONG_KIND',
  'branch-exists': 'SAGA_BRANCH_CONFLICT',
  'too-many-branches': 'SAGA_TOO_MANY_BRANCHES',
  'too-large': 'SAGA_PAYLOAD_TOO_LARGE',
  'headers-too-large': 'SAGA_HEADER_INVALID',
  'signal-unknown': 'SAGA_SIGNAL_UNKNOWN',
  'signal-exists': 'SAGA_SIGNAL_CONFLICT',
  'too-many-signals': 'SAGA_TOO_MANY_SIGNALS',
  'turned-around': 'SAGA_TURNED_AROUND',
  'no-return': 'SAGA_NO_RETURN',
  paused: 'SAGA_PAUSED',
  'op-unknown': 'SAGA_OP_UNKNOWN',
  'op-done': 'SAGA_OP_DONE',
  'op-not-due': 'SAGA_OP_NOT_DUE',
  'op-busy': 'SAGA_OP_BUSY',
  'answer-too-large': 'SAGA_PAYLOAD_TOO_LARGE',
  'answer-required': 'SAGA_OP_NOT_DUE',
  'confirmation-required': 'SAGA_CONFIRMATION_REQUIRED',
  'plan-changed': 'SAGA_PLAN_CHANGED',
  'trail-full': 'SAGA_TRAIL_FULL',
  'command-conflict': 'SAGA_COMMAND_CONFLICT',
  'edits-too-large': 'SAGA_EDITS_TOO_LARGE',
} as const

/** Builds the error for a caller whose command cannot be given to the transaction in its current state. */
export function toCommandError(
  gid: Gid,
  command: Command,
  { refusal, status }: { readonly refusal: CommandRefusal; readonly status: Status },
): TransactionError {
  return new TransactionError(REFUSAL_CODES[refusal], describeRefusal(gid, command, refusal, status), gid)
}

/** Says so for a person. */
export function describeRefusal(gid: Gid, command: Command, refusal: CommandRefusal, status: Status): string {
  const { type } = command
  const op = 'branchId' in command ? `the ${command.op} of branch ${command.branchId}` : 'the op'
  switch (refusal) {
    case 'already-final':
      return `${gid} has already ${status}`
    case 'not-prepared':
      return `${gid} is ${status}: only a prepared one can be ${type === 'abort-asked' ? 'aborted' : type === 'submit-asked' ? 'submitted' : 'added to'}`
    case 'wrong-kind':
      return `a transaction of the kind of ${gid} cannot ${type === 'submit-asked' ? 'be submitted a second time' : type === 'signal-asked' ? 'get a signal' : 'be added to'}`
    case 'branch-exists':
      return `a branch of ${gid} has this id and other content`
    case 'too-many-branches':
      return `${gid} has as many branches as a transaction may have`
    case 'too-large':
      return `all bodies of ${gid} together are over ${REGISTERED_BYTES_MAX} bytes`
    case 'signal-unknown':
      return `no branch of ${gid} waits for a signal with this name`
    case 'signal-exists':
      return `${gid} has a signal with this id, and with another name or payload`
    case 'too-many-signals':
      return `${gid} keeps at most ${SIGNALS_KEPT_MAX} signals and ${SIGNALS_KEPT_BYTES_MAX} bytes of payloads that no branch has taken yet, or for which the journal of its workflow has no room`
    case 'turned-around':
      return `${gid} is being undone, so the signal comes too late`
    case 'no-return':
      return `${gid} has passed its point of no return, so it only goes forward`
    case 'headers-too-large':
      return `the headers of ${gid} and of this branch together are more than a call carries`
    case 'paused':
      return `${gid} is paused: resume it first`
    case 'op-unknown':
      return `${gid} has no such op: ${op}`
    case 'op-done':
      return `${op} of ${gid} has succeeded`
    case 'op-not-due':
      return `${gid} is ${status}, and this command is not for ${op} now: it is not reached yet, given up, a wait for a signal, or a step of code`
    case 'op-busy':
      return `${op} of ${gid} is being called, or another node runs the transaction: pause the transaction first`
    case 'answer-required':
      return `${op} of ${gid} has succeeded, and its answer was lost: give it with the skip (null for none)`
    case 'answer-too-large':
      return `the journal of ${gid} has no room for this answer of ${op}`
    case 'confirmation-required':
      return `${op} of ${gid} may have been called: find out, and confirm with "${CONFIRMATION}"`
    case 'plan-changed':
      return `something else would follow for ${gid} than the plan says: ask for a new preview`
    case 'trail-full':
      return `the trail of ${gid} is full: every command but a pause is left`
    case 'command-conflict':
      return `another command of ${gid} has this commandId`
    case 'edits-too-large':
      return `all edits of ${gid} together are over ${EDITS_BYTES_MAX} bytes`
  }
}
