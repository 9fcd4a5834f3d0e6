/**
 * The commands of operators, for all kinds in one place. A command is folded together with its entry in the trail, and the
 * change is strong: it is answered only when both are durable. No command takes back a success or a decision, shortens the
 * list of an abort, or lets something failed succeed.
 */
import type { OperatorCommand, PauseView, TrailEntry } from '@counterstep/protocol'
import { addEdit, areTooLarge, cutChange, describeEdit, findEdit } from '../record/edits.ts'
import { appendEntry, findEntry, isTrailFull } from '../record/trail.ts'
import { canonicalJson } from '../submission/canonical-json.ts'
import { isFinal, type OpProgress, type StoredEntry, type Transaction } from '../transaction.ts'
import type { CallKey, GivenCommand, OpCommand, TransactionEvent } from './events.ts'
import type { Fold, FoldedTransaction } from './fold.ts'
import {
  ATTENTION_FAILURES,
  findOp,
  makeDue,
  mapOps,
  PARKED_OP_AT,
  releaseOrphanedCall,
  someOp,
  withOp,
  withoutAttention,
  withoutNextAt,
} from './op-progress.ts'
import { findNamedOp, type OpRefusal, refuseOp } from './operator-ops.ts'
import { isPaused, withoutPause } from './pause.ts'
import { askForHands, finishAfterSkip, giveAnswer, skipOp } from './skip-op.ts'

/**
 * `paused`: it must be resumed first. `trail-full`: its trail has no room for one more entry. `command-conflict`: another
 * command has this id. `edits-too-large`: all edits together would be.
 */
export type OperatorRefusal = OpRefusal | 'paused' | 'trail-full' | 'command-conflict' | 'edits-too-large'

const NAMES: Readonly<Record<GivenCommand['type'], OperatorCommand>> = {
  'submit-asked': 'submit',
  'abort-asked': 'abort',
  'retry-asked': 'retry',
  'stop-asked': 'stop',
  'pause-asked': 'pause',
  'resume-asked': 'resume',
  'retry-op-asked': 'retry-op',
  'skip-asked': 'skip',
  'edit-asked': 'edit',
}

export function isGiven(event: TransactionEvent): event is GivenCommand {
  return 'given' in event && event.given !== undefined
}

/** Folds an event of a transaction that has a trail, or a command that makes its first entry. */
export function foldWithTrail(
  fold: Fold,
  transaction: Transaction,
  event: TransactionEvent,
  now: number,
): FoldedTransaction {
  if (isFinal(transaction)) return { next: transaction, durability: 'none' }
  const folded = isGiven(event)
    ? foldCommand(fold, transaction, event, now)
    : foldOther(fold, transaction, event, now)
  if (folded.next === transaction) return folded
  const { next } = folded
  return { ...folded, next: isFinal(next) ? withoutPause(next) : askForHands(next) }
}

/**
 * A deadline and the like follow from the time alone, and are decided at the end of the pause. An answer is a fact and is
 * folded at once, together with what it decides.
 */
function foldOther(
  fold: Fold,
  transaction: Transaction,
  event: TransactionEvent,
  now: number,
): FoldedTransaction {
  if (event.type !== 'time' && event.type !== 'claimed') return fold(transaction, event, now)
  if (isPaused(transaction, now)) {
    if (event.type === 'time') return { next: transaction, durability: 'none' }
    const { epoch, sentUnknown } = event
    return { next: { ...mapOps(transaction, releaseOrphanedCall), epoch, sentUnknown }, durability: 'none' }
  }
  const awake = withoutPause(transaction)
  const folded = fold(awake, event, now)
  // A crash before this is saved changes nothing: the instant of the end stands in the row.
  return awake !== transaction && folded.durability === 'none' ? { ...folded, durability: 'lazy' } : folded
}

/** The same command again changes nothing, and neither does one that is refused. */
function foldCommand(
  fold: Fold,
  transaction: Transaction,
  command: GivenCommand,
  now: number,
): FoldedTransaction {
  const isKnown = findEntry(transaction, command.given.id) !== undefined
  if (isKnown || refuseGiven(transaction, command, now) !== undefined)
    return { next: transaction, durability: 'none' }
  const next = applyCommand(fold, transaction, command, now)
  const entry = toEntry(transaction, command, now)
  return { next: { ...appendEntry(next, entry), updatedAt: now }, durability: 'strong' }
}

/** Returns why an operator's command is refused. What a kind refuses of its own is not asked here. */
export function refuseGiven(
  transaction: Transaction,
  command: GivenCommand,
  now: number,
): OperatorRefusal | undefined {
  const known = findEntry(transaction, command.given.id)
  if (known !== undefined) return isSameCommand(transaction, known, command) ? undefined : 'command-conflict'
  if (isTrailFull(transaction, { command: NAMES[command.type] })) return 'trail-full'
  if (isRetry(command) && isPaused(transaction, now)) return 'paused'
  if (!('branchId' in command)) return undefined
  return refuseOp(transaction, command) ?? refuseEdit(transaction, command)
}

function isRetry({ type }: GivenCommand): boolean {
  return type === 'retry-asked' || type === 'retry-op-asked'
}

function refuseEdit(transaction: Transaction, command: OpCommand): 'edits-too-large' | undefined {
  if (command.type !== 'edit-asked') return undefined
  const found = findNamedOp(transaction, command)
  if (found === undefined) return undefined
  return areTooLarge(addEdit(transaction.edits, found.call, command.edit)) ? 'edits-too-large' : undefined
}

function isSameCommand(transaction: Transaction, known: StoredEntry, command: GivenCommand): boolean {
  const isSame = isOfSameOp(known, { command: NAMES[command.type], ...toOpName(command) })
  // Merged retries of one op differ in nothing else.
  if (!isSame || known.after !== describeAfter(command)) return false
  if (command.type === 'skip-asked') return isSameAnswer(transaction, command)
  return command.type !== 'edit-asked' || isSameEdit(transaction, known, command)
}

function isOfSameOp(a: Pick<StoredEntry, 'command' | 'op'>, b: Pick<StoredEntry, 'command' | 'op'>): boolean {
  return a.command === b.command && a.op?.branchId === b.op?.branchId && a.op?.op === b.op?.op
}

/** The trail does not show an answer, so what a workflow keeps of it is compared. */
function isSameAnswer(
  transaction: Transaction,
  command: Extract<GivenCommand, { readonly type: 'skip-asked' }>,
): boolean {
  const found = findNamedOp(transaction, command)
  if (transaction.kind !== 'workflow' || found === undefined) return true
  const { values } = giveAnswer(transaction, found.call.branch, found.progress, command.answer)
  return canonicalJson([...(values ?? [])]) === canonicalJson([...(found.progress.values ?? [])])
}

/** The trail does not show a payload, so the newest edit of an op is compared with what it has left. */
function isSameEdit(
  transaction: Transaction,
  known: StoredEntry,
  command: Extract<GivenCommand, { readonly type: 'edit-asked' }>,
): boolean {
  const found = findNamedOp(transaction, command)
  const newest = transaction.trail?.findLast((entry) => isOfSameOp(entry, known))
  if (found === undefined || newest !== known) return true
  const left = findEdit(transaction, found.call)
  return canonicalJson({ ...left, ...command.edit } as never) === canonicalJson({ ...left } as never)
}

function applyCommand(fold: Fold, transaction: Transaction, command: GivenCommand, now: number): Transaction {
  switch (command.type) {
    case 'pause-asked':
      return { ...transaction, paused: toPause(command, now) }
    case 'resume-asked':
      return withoutPause(transaction)
    case 'retry-op-asked':
    case 'skip-asked':
    case 'edit-asked':
      return applyToOp(transaction, command, now)
    default:
      return fold(transaction, command, now).next
  }
}

function toPause(
  { until, given }: Extract<GivenCommand, { readonly type: 'pause-asked' }>,
  now: number,
): PauseView {
  return { at: now, by: given.by, ...(until === undefined ? {} : { until }) }
}

function applyToOp(transaction: Transaction, command: OpCommand, now: number): Transaction {
  const found = findNamedOp(transaction, command)
  if (found === undefined) return transaction
  const { call, progress } = found
  const calmed = { ...withoutMarkOf(transaction, call), claimsUnanswered: 0 }
  switch (command.type) {
    case 'retry-op-asked':
      return withOp(calmed, call, makeDue(progress))
    case 'skip-asked': {
      const { doneBy, answer } = command
      return finishAfterSkip(skipOp(calmed, progress, { call, doneBy, answer }, now), now)
    }
    case 'edit-asked': {
      const edited = { ...calmed, edits: addEdit(transaction.edits, call, command.edit) }
      return withOp(edited, call, beginAnew(progress))
    }
  }
}

/** The attempts stay, because the participant may have seen them. What limits and delays them begins anew. */
function beginAnew(progress: OpProgress): OpProgress {
  const { failingSince: _, ...rest } = withoutNextAt(progress)
  return { ...rest, state: 'idle', failures: 0, waits: 0 }
}

/** Takes the mark away, unless another op needs a person too. Without its mark that op would be parked unseen. */
function withoutMarkOf<T extends Transaction>(transaction: T, call: CallKey): T {
  const own = findOp(transaction, call)
  const isOtherTroubled = someOp(transaction, (progress) => progress !== own && isTroubled(progress))
  return isOtherTroubled ? transaction : withoutAttention(transaction)
}

function isTroubled({ state, nextAt, failures, result }: OpProgress): boolean {
  if (state !== 'waiting') return false
  return nextAt === PARKED_OP_AT || failures >= ATTENTION_FAILURES || result === 'failure'
}

function toEntry(transaction: Transaction, command: GivenCommand, now: number): StoredEntry {
  const { id, by, confirm, bulk } = command.given
  const reason = command.given.reason ?? ('reason' in command ? command.reason : undefined)
  const before = describeBefore(transaction, command)
  const after = describeAfter(command)
  const entry: TrailEntry = {
    id,
    at: now,
    by,
    command: NAMES[command.type],
    ...toOpName(command),
    ...(reason === undefined ? {} : { reason }),
    from: transaction.status,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(confirm === undefined ? {} : { confirm }),
    ...(bulk === undefined ? {} : { bulk }),
  }
  return entry
}

function toOpName(command: GivenCommand): Pick<TrailEntry, 'op'> {
  return 'branchId' in command ? { op: { branchId: command.branchId, op: command.op } } : {}
}

function describeBefore(transaction: Transaction, command: GivenCommand): string | undefined {
  if (!('branchId' in command) || command.type === 'retry-op-asked') return undefined
  const found = findNamedOp(transaction, command)
  if (found === undefined) return undefined
  const { state, attempts } = found.progress
  if (command.type === 'skip-asked') return `${state}, ${attempts} attempts`
  const earlier = findEdit(transaction, found.call)
  return earlier === undefined ? 'as submitted' : describeEdit(earlier)
}

function describeAfter(command: GivenCommand): string | undefined {
  switch (command.type) {
    case 'pause-asked':
      return command.until === undefined ? undefined : `until ${command.until}`
    case 'skip-asked':
      return cutChange(`done by ${command.doneBy === 'hand' ? 'hand' : 'the service'}`)
    case 'edit-asked':
      return describeEdit(command.edit)
    default:
      return undefined
  }
}
