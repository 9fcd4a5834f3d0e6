/**
 * Decides whether a command may be given to a transaction in its current state. The engine has the texts, in
 * `refused-command.ts`. A command whose effect is already there is not refused. A branch is refused once its TCC is
 * decided, even a registered one, because its client must not try it any more.
 */
import { BODY_BYTES_MAX, BRANCHES_MAX, SIGNALS_KEPT_BYTES_MAX, SIGNALS_KEPT_MAX } from '@counterstep/protocol'
import type { RegisteredBranch } from '../definition.ts'
import { findEntry } from '../record/trail.ts'
import type { Command, RecordedEnd } from '../rules/events.ts'
import { isGiven, type OperatorRefusal, refuseGiven } from '../rules/operator-commands.ts'
import { isPaused } from '../rules/pause.ts'
import { findRecord, hasEndedBy, isSameRecord } from '../rules/recorded.ts'
import { countSignalBytes, listAwaiting, waitsForSignal } from '../rules/saga-signals.ts'
import { findTaker } from '../rules/workflow-steps.ts'
import { canonicalJson } from '../submission/canonical-json.ts'
import { findExcess } from '../submission/parse-headers.ts'
import { utf8Length } from '../submission/utf8-length.ts'
import {
  hasSteps,
  isFinal,
  isTwoPhase,
  type SagaTransaction,
  type Signal,
  type StepRecord,
  type Transaction,
  type TwoPhaseTransaction,
  type WorkflowTransaction,
} from '../transaction.ts'

/**
 * `already-final`: the transaction takes no more commands. `not-prepared`: it has been decided, and not this way.
 * `wrong-kind`: its kind does not have this command. `branch-exists`: the id is registered with other content.
 * `too-large`: all bodies together would be too large. `headers-too-large`: the branch's headers and those of all
 * branches together would be. `signal-unknown`: no branch waits for a signal of this name. `signal-exists`: its id came
 * with another name or payload. `too-many-signals`: too many are kept. `turned-around`: the saga is being undone.
 * `no-return`: the saga goes forward only.
 */
export type Refusal =
  | 'already-final'
  | 'not-prepared'
  | 'wrong-kind'
  | 'branch-exists'
  | 'too-many-branches'
  | 'too-large'
  | 'headers-too-large'
  | 'signal-unknown'
  | 'signal-exists'
  | 'too-many-signals'
  | 'turned-around'
  | 'no-return'

/** The refusals of operators' own commands stand with their rules. */
export type CommandRefusal = Refusal | OperatorRefusal | 'plan-changed'

/** These limits are for one TCC or XA. They exist because each save writes all registered branches with their bodies. */
export const REGISTERED_MAX = BRANCHES_MAX
export const REGISTERED_BYTES_MAX = BODY_BYTES_MAX
/** These limits are for what the client of one recorded workflow reports. */
export const RECORDS_MAX = 300
export const RECORDED_BYTES_MAX = BODY_BYTES_MAX

/** `now` is by the store's clock. It tells whether a pause is over. */
export function findRefusal(
  transaction: Transaction,
  command: Command,
  now: number,
): Refusal | OperatorRefusal | undefined {
  const given = isGiven(command) ? command : undefined
  // The same command again is not refused, even after the end: its caller may not have got the first answer.
  if (given !== undefined && findEntry(transaction, given.given.id) !== undefined)
    return refuseGiven(transaction, given, now)
  const refusal = refuseByState(transaction, command, now)
  if (refusal !== undefined || given === undefined) return refusal
  return refuseGiven(transaction, given, now)
}

function refuseByState(
  transaction: Transaction,
  command: Command,
  now: number,
): Refusal | OperatorRefusal | undefined {
  switch (command.type) {
    case 'register-asked':
      return refuseBranch(transaction, command.branch)
    case 'submit-asked':
      return refuseSubmit(transaction)
    case 'record-asked':
      return refuseRecord(transaction, command.record)
    case 'end-asked':
      return refuseEnd(transaction, command.end)
    case 'signal-asked':
      return refuseSignal(transaction, command.signal)
    case 'abort-asked':
      if (transaction.kind === 'recorded') return 'wrong-kind'
      if (isFinal(transaction)) return 'already-final'
      if (hasSteps(transaction)) return transaction.noReturnAt === undefined ? undefined : 'no-return'
      return transaction.status === 'submitted' ? 'not-prepared' : undefined
    case 'retry-asked':
      if (isFinal(transaction)) return 'already-final'
      return isPaused(transaction, now) ? 'paused' : undefined
    case 'stop-asked':
    case 'pause-asked':
    case 'resume-asked':
    case 'retry-op-asked':
    case 'skip-asked':
    case 'edit-asked':
      return isFinal(transaction) ? 'already-final' : undefined
  }
}

/** Whether the command is done in a state that became durable after it. Another node's command may have come first. */
export function isDone(transaction: Transaction, command: Command): boolean {
  const { status } = transaction
  // An operator's command is done if and only if the trail has it.
  if (isGiven(command)) return findEntry(transaction, command.given.id) !== undefined
  switch (command.type) {
    case 'register-asked':
      return isTwoPhase(transaction) && isRegistered(transaction, command.branch)
    case 'submit-asked':
      return status === 'submitted' || status === 'succeeded'
    case 'record-asked': {
      const standing = transaction.kind === 'recorded' ? findRecord(transaction, command.record) : undefined
      return standing !== undefined && isSameRecord(standing, command.record)
    }
    case 'end-asked':
      return transaction.kind === 'recorded' && hasEndedBy(transaction, command.end)
    case 'signal-asked':
      return hasSteps(transaction) && findSignal(transaction, command.signal) === 'same'
    case 'abort-asked':
      return status === 'aborting' || status === 'failed'
    case 'retry-asked':
      return status !== 'stopped'
    case 'stop-asked':
      return status === 'stopped'
  }
}

function refuseSubmit({ kind, status }: Transaction): Refusal | undefined {
  if (kind === 'saga' || kind === 'workflow' || kind === 'recorded') return 'wrong-kind'
  return status === 'prepared' || status === 'submitted' || status === 'succeeded'
    ? undefined
    : 'not-prepared'
}

function refuseRecord(transaction: Transaction, record: StepRecord): Refusal | undefined {
  if (transaction.kind !== 'recorded') return 'wrong-kind'
  if (transaction.status !== 'prepared') return 'not-prepared'
  const standing = findRecord(transaction, record)
  if (standing !== undefined) return isSameRecord(standing, record) ? undefined : 'branch-exists'
  const { records } = transaction
  if (records.length >= RECORDS_MAX) return 'too-many-branches'
  const bytes = [...records, record].reduce((sum, { data }) => sum + utf8Length(data, data.length), 0)
  return bytes > RECORDED_BYTES_MAX ? 'too-large' : undefined
}

/** The same end again is not refused: its caller may not have got the first answer. */
function refuseEnd(transaction: Transaction, end: RecordedEnd): Refusal | undefined {
  if (transaction.kind !== 'recorded') return 'wrong-kind'
  return isFinal(transaction) && !hasEndedBy(transaction, end) ? 'already-final' : undefined
}

/** The same signal again is not refused, even after the end: its caller may not have got the first answer. */
function refuseSignal(transaction: Transaction, signal: Signal): Refusal | undefined {
  if (!hasSteps(transaction)) return 'wrong-kind'
  const standing = findSignal(transaction, signal)
  if (standing !== undefined) return standing === 'same' ? undefined : 'signal-exists'
  // The code of a workflow may still ask for any name.
  if (transaction.kind === 'saga' && !waitsForSignal(transaction, signal.name)) return 'signal-unknown'
  if (isFinal(transaction)) return 'already-final'
  if (transaction.status === 'aborting') return 'turned-around'
  const { signals = [] } = transaction
  const kept = [...signals.filter(({ takenBy }) => takenBy === undefined), signal]
  // One that was taken has its payload where the journal had no room for it.
  const taken = [...signals.filter(({ takenBy }) => takenBy !== undefined), signal]
  const isTooMany = isTakenAtOnce(transaction, signal.name)
    ? countSignalBytes(taken) > SIGNALS_KEPT_BYTES_MAX
    : kept.length > SIGNALS_KEPT_MAX || countSignalBytes(kept) > SIGNALS_KEPT_BYTES_MAX
  return isTooMany ? 'too-many-signals' : undefined
}

function isTakenAtOnce(transaction: SagaTransaction | WorkflowTransaction, name: string): boolean {
  return transaction.kind === 'saga'
    ? listAwaiting(transaction, name).length > 0
    : findTaker(transaction, name) !== undefined
}

function findSignal(
  { signals = [] }: SagaTransaction | WorkflowTransaction,
  { id, digest }: Signal,
): 'same' | 'other' | undefined {
  const standing = signals.find((signal) => signal.id === id)
  if (standing === undefined) return undefined
  return standing.digest === digest ? 'same' : 'other'
}

function refuseBranch(transaction: Transaction, branch: RegisteredBranch): Refusal | undefined {
  if (!isTwoPhase(transaction) || isForXa(branch) !== (transaction.kind === 'xa')) return 'wrong-kind'
  if (transaction.status !== 'prepared') return 'not-prepared'
  const standing = registeredAs(transaction, branch)
  if (standing !== undefined) return isSame(standing, branch) ? undefined : 'branch-exists'
  if (transaction.registered.length >= REGISTERED_MAX) return 'too-many-branches'
  if (findExcess({ ...transaction.definition.headers, ...branch.headers }).length > 0)
    return 'headers-too-large'
  return bodyBytes([...transaction.registered, branch]) > REGISTERED_BYTES_MAX ? 'too-large' : undefined
}

function isRegistered(transaction: TwoPhaseTransaction, branch: RegisteredBranch): boolean {
  const standing = registeredAs(transaction, branch)
  return standing !== undefined && isSame(standing, branch)
}

function isForXa(branch: RegisteredBranch): boolean {
  return 'url' in branch
}

function bodyBytes(branches: readonly RegisteredBranch[]): number {
  return branches.reduce((sum, { body }) => sum + utf8Length(body, body.length), 0)
}

function registeredAs(
  { registered }: TwoPhaseTransaction,
  { id }: RegisteredBranch,
): RegisteredBranch | undefined {
  return registered.find((branch) => branch.id === id)
}

function isSame(a: RegisteredBranch, b: RegisteredBranch): boolean {
  return canonicalJson({ ...a } as never) === canonicalJson({ ...b } as never)
}
