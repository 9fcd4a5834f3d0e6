/**
 * Whether a command may be given to a transaction as it is. What has been done already is not refused; but a branch is,
 * once its TCC is decided: its client must not try it any more.
 */
import { BODY_BYTES_MAX, BRANCHES_MAX } from '@counterstep/protocol'
import type { TccBranch } from '../definition.ts'
import type { Command } from '../rules/events.ts'
import { canonicalJson } from '../submission/canonical-json.ts'
import { excessOf } from '../submission/parse-headers.ts'
import { utf8Length } from '../submission/utf8-length.ts'
import { isFinal, type TccTransaction, type Transaction } from '../transaction.ts'

/**
 * `already-final`: nothing can be asked of it any more. `not-prepared`: it has been decided, the other way.
 * `wrong-kind`: transactions of its kind do not have that. `branch-exists`: with other content.
 * `too-large`: with the bodies of those that are there. `headers-too-large`: with those of all branches.
 */
export type Refusal =
  | 'already-final'
  | 'not-prepared'
  | 'wrong-kind'
  | 'branch-exists'
  | 'too-many-branches'
  | 'too-large'
  | 'headers-too-large'

/** Of one TCC, with all their bodies: what is registered is written with each save. */
export const REGISTERED_MAX = BRANCHES_MAX
export const REGISTERED_BYTES_MAX = BODY_BYTES_MAX

export function refusalOf(transaction: Transaction, command: Command): Refusal | undefined {
  switch (command.type) {
    case 'register-asked':
      return refuseBranch(transaction, command.branch)
    case 'submit-asked':
      return refuseSubmit(transaction)
    case 'abort-asked':
      if (isFinal(transaction)) return 'already-final'
      return transaction.kind !== 'saga' && transaction.status === 'submitted' ? 'not-prepared' : undefined
    case 'retry-asked':
    case 'stop-asked':
      return isFinal(transaction) ? 'already-final' : undefined
  }
}

/** Whether the command is done, in a state that is durable after it: another node's may have come first. */
export function isDone(transaction: Transaction, command: Command): boolean {
  const { status } = transaction
  switch (command.type) {
    case 'register-asked':
      return transaction.kind === 'tcc' && isRegistered(transaction, command.branch)
    case 'submit-asked':
      return status === 'submitted' || status === 'succeeded'
    case 'abort-asked':
      return status === 'aborting' || status === 'failed'
    case 'retry-asked':
      return status !== 'stopped'
    case 'stop-asked':
      return status === 'stopped'
  }
}

function refuseSubmit({ kind, status }: Transaction): Refusal | undefined {
  if (kind === 'saga') return 'wrong-kind'
  return status === 'prepared' || status === 'submitted' || status === 'succeeded'
    ? undefined
    : 'not-prepared'
}

function refuseBranch(transaction: Transaction, branch: TccBranch): Refusal | undefined {
  if (transaction.kind !== 'tcc') return 'wrong-kind'
  if (transaction.status !== 'prepared') return 'not-prepared'
  const standing = registeredAs(transaction, branch)
  if (standing !== undefined) return isSame(standing, branch) ? undefined : 'branch-exists'
  if (transaction.registered.length >= REGISTERED_MAX) return 'too-many-branches'
  if (excessOf({ ...transaction.definition.headers, ...branch.headers }).length > 0)
    return 'headers-too-large'
  return bodyBytes([...transaction.registered, branch]) > REGISTERED_BYTES_MAX ? 'too-large' : undefined
}

function isRegistered(transaction: TccTransaction, branch: TccBranch): boolean {
  const standing = registeredAs(transaction, branch)
  return standing !== undefined && isSame(standing, branch)
}

function bodyBytes(branches: readonly TccBranch[]): number {
  return branches.reduce((sum, { body }) => sum + utf8Length(body, body.length), 0)
}

function registeredAs({ registered }: TccTransaction, { id }: TccBranch): TccBranch | undefined {
  return registered.find((branch) => branch.id === id)
}

function isSame(a: TccBranch, b: TccBranch): boolean {
  return canonicalJson({ ...a } as never) === canonicalJson({ ...b } as never)
}
