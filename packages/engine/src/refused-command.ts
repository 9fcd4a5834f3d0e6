import { type Command, REGISTERED_BYTES_MAX, type Refusal } from '@counterstep/core'
import type { Gid, Status } from '@counterstep/protocol'
import { TransactionError } from './transaction-error.ts'

const CODES = {
  'already-final': 'SAGA_ALREADY_FINAL',
  'not-prepared': 'SAGA_NOT_PREPARED',
  'wrong-kind': 'SAGA_WRONG_KIND',
  'branch-exists': 'SAGA_BRANCH_CONFLICT',
  'too-many-branches': 'SAGA_TOO_MANY_BRANCHES',
  'too-large': 'SAGA_PAYLOAD_TOO_LARGE',
  'headers-too-large': 'SAGA_HEADER_INVALID',
} as const

/** Builds the error for a caller whose command cannot be given to the transaction in its current state. */
export function toCommandError(
  gid: Gid,
  command: Command,
  { refusal, status }: { readonly refusal: Refusal; readonly status: Status },
): TransactionError {
  return new TransactionError(CODES[refusal], describeRefusal(gid, command, refusal, status), gid)
}

function describeRefusal(gid: Gid, { type }: Command, refusal: Refusal, status: Status): string {
  switch (refusal) {
    case 'already-final':
      return `${gid} has already ${status}`
    case 'not-prepared':
      return `${gid} is ${status}: only a prepared one can be ${type === 'abort-asked' ? 'aborted' : type === 'submit-asked' ? 'submitted' : 'added to'}`
    case 'wrong-kind':
      return `a transaction of the kind of ${gid} cannot be ${type === 'submit-asked' ? 'submitted a second time' : 'added to'}`
    case 'branch-exists':
      return `a branch of ${gid} has this id and other content`
    case 'too-many-branches':
      return `${gid} has as many branches as a transaction may have`
    case 'too-large':
      return `all bodies of ${gid} together are over ${REGISTERED_BYTES_MAX} bytes`
    case 'headers-too-large':
      return `the headers of ${gid} and of this branch together are more than a call carries`
  }
}
