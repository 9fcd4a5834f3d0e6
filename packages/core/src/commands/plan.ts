/**
 * Says what would follow from a command. The command is folded on a copy, and the rules themselves are asked again and again
 * for the next calls, each of which is taken as a success. Nothing is changed and nothing is called.
 */
import { OWN_CALL_ID, type PlannedCall, type PlanView, type PreviewRequest } from '@counterstep/protocol'
import { findCallUrl } from '../record/find-call-url.ts'
import { readServiceName } from '../record/service-name.ts'
import { findEntry } from '../record/trail.ts'
import { withoutQuery } from '../record/without-query.ts'
import type { CallKey, Given, GivenCommand, TransactionEvent } from '../rules/events.ts'
import { CHECK, findOp, listCalls, makeDue, mapOps, PARKED_OP_AT } from '../rules/op-progress.ts'
import { CONFIRMATION } from '../rules/operator-ops.ts'
import { withoutPause } from '../rules/pause.ts'
import type { Rules } from '../rules/rules.ts'
import { textHash } from '../text-hash.ts'
import {
  getBranchTargets,
  isFinal,
  isTwoPhase,
  type SagaTransaction,
  type Transaction,
} from '../transaction.ts'
import type { CommandRefusal } from './refuse-command.ts'
import { findRefusal } from './refuse-command.ts'

/** No command of a client has this id, because a space may not stand in one. */
const PREVIEW_GIVEN: Given = { id: 'of a preview', by: { via: 'local' }, confirm: CONFIRMATION }
/** A transaction has at most 100 branches with two ops. Each round makes a call, ends a wait or comes to a later instant. */
const ROUNDS_MAX = 500

export interface Plan extends Omit<PlanView, 'refusal' | 'exact' | 'needs'> {
  readonly refusal?: CommandRefusal
}

/** A plan that was shown is not carried out if something else would follow by now. A command that is done has no plan. */
export function isPlanChanged(
  rules: Rules,
  transaction: Transaction,
  command: GivenCommand,
  now: number,
): boolean {
  const { planId, id } = command.given
  if (planId === undefined || findEntry(transaction, id) !== undefined) return false
  return planNext(rules, transaction, command, now).planId !== planId
}

/** Builds the command that a preview asks about. Undefined: it lacks the op that it is about. */
export function toPreviewCommand({ command, op, doneBy, until }: PreviewRequest): GivenCommand | undefined {
  const given = PREVIEW_GIVEN
  switch (command) {
    case 'retry':
    case 'resume':
    case 'abort':
    case 'submit':
    case 'stop':
      return { type: `${command}-asked`, given }
    case 'pause':
      return { type: 'pause-asked', given, ...(until === undefined ? {} : { until }) }
    case 'retry-op':
      return op === undefined ? undefined : { type: 'retry-op-asked', ...op, given }
    case 'skip':
      return op === undefined ? undefined : { type: 'skip-asked', ...op, doneBy: doneBy ?? 'service', given }
    case 'edit':
      return op === undefined ? undefined : { type: 'edit-asked', ...op, edit: {}, given }
  }
}

/** A preview has no answer. In a workflow the same calls follow from each, since the code is asked whatever it is. */
function addAnswer(command: GivenCommand): GivenCommand {
  const isPreview = command.type === 'skip-asked' && command.given === PREVIEW_GIVEN
  return isPreview ? { ...command, answer: 'null' } : command
}

/** Plans a command. `transaction` is what the command would be folded on, and `now` is by the store's clock. */
export function planNext(rules: Rules, transaction: Transaction, asked: GivenCommand, now: number): Plan {
  const command = transaction.kind === 'workflow' ? addAnswer(asked) : asked
  const refusal = findRefusal(transaction, command, now)
  if (refusal !== undefined) return { ...toPlan(transaction, [], transaction, now), refusal }
  const commanded = rules.fold(transaction, command, now).next
  if (command.type === 'pause-asked') return toPlan(commanded, [], commanded, now)
  const { steps, end } = playOut(rules, commanded, now)
  return toPlan(commanded, steps, end, now)
}

interface Played {
  readonly steps: readonly (readonly CallKey[])[]
  readonly end: Transaction
}

function playOut(rules: Rules, commanded: Transaction, now: number): Played {
  const steps: (readonly CallKey[])[] = []
  let at = now
  let next = answerAll(rules, simplify(withoutPause(commanded)), listInFlight(commanded), now)
  for (let round = 0; round < ROUNDS_MAX && !isFinal(next); round++) {
    next = mapOps(rules.fold(next, { type: 'time' }, at).next, makeDue)
    if (isFinal(next)) break
    const effects = rules.effects(next, at)
    const calls = effects.flatMap((effect) => (effect.type === 'call' ? [effect.call] : []))
    if (calls.length > 0) {
      steps.push(calls)
      // The steps that the code will plan are not known.
      if (calls.some(({ op }) => op === 'plan')) break
      next = answerAll(rules, rules.fold(next, { type: 'sent', calls }, at).next, calls, at)
      continue
    }
    const wake = effects.find((effect) => effect.type === 'wake-at')
    // A prepared TCC or XA waits for its client, and what is parked waits for a person.
    const isStuck = wake?.type !== 'wake-at' || wake.at >= PARKED_OP_AT || wake.at <= at
    if (isStuck || (isTwoPhase(next) && next.status === 'prepared')) break
    at = wake.at
  }
  return { steps, end: next }
}

function answerAll(
  rules: Rules,
  transaction: Transaction,
  calls: readonly CallKey[],
  now: number,
): Transaction {
  let next = transaction
  for (const call of calls) {
    const attempt = findOp(next, call)?.attempts ?? 0
    const answer = { result: 'success' } as const
    const event: TransactionEvent = { type: 'answered', call, attempt, answer, durationMs: 0, jitter01: 0 }
    next = rules.fold(next, event, now).next
  }
  return next
}

function listInFlight(transaction: Transaction): readonly CallKey[] {
  return listCalls(transaction).filter((call) => findOp(transaction, call)?.state === 'calling')
}

/** The copy builds no request from values, which are not known yet, and each wait ends at once. */
function simplify(transaction: Transaction): Transaction {
  if (transaction.kind !== 'saga') return transaction
  const { values: _, ...definition } = transaction.definition
  const branches = definition.branches.map((branch) =>
    branch.wait === undefined ? branch : { ...branch, wait: { type: 'ms' as const, ms: 0 } },
  )
  const opened = transaction.branches.map((progress) =>
    progress.action.state === 'open' ? { ...progress, action: { ...progress.action, nextAt: 0 } } : progress,
  )
  const saga: SagaTransaction = { ...transaction, definition: { ...definition, branches }, branches: opened }
  return saga
}

function toPlan(
  commanded: Transaction,
  steps: readonly (readonly CallKey[])[],
  end: Transaction,
  now: number,
): Plan {
  const planned = steps.map((calls) => calls.map((call) => toPlannedCall(commanded, call)))
  const cannotUndo = listLasting(end)
  const texts = planned.map((calls) => calls.map(({ branchId, op }) => `${branchId} ${op}`).join(','))
  const text = JSON.stringify([commanded.status, end.status, texts, cannotUndo])
  return {
    planId: hash(text),
    asOf: now,
    steps: planned,
    cannotUndo,
    waitsFor: listSilentServices(commanded),
    ends: end.status,
  }
}

function hash(text: string): string {
  return [text, `${text} `].map((each) => textHash(each).toString(16).padStart(8, '0')).join('')
}

function toPlannedCall(transaction: Transaction, call: CallKey): PlannedCall {
  const url = findCallUrl(transaction, call)
  return {
    branchId: call.branch === CHECK ? OWN_CALL_ID : (getBranchTargets(transaction)[call.branch]?.id ?? ''),
    op: call.op,
    ...(url === undefined || url === '' ? {} : { url: withoutQuery(url) }),
    ran: tellRan(transaction, call),
  }
}

/** Says of a compensation whether its action has run, and of any other call whether it has run itself. */
function tellRan(transaction: Transaction, call: CallKey): PlannedCall['ran'] {
  const op = call.op === 'compensate' ? 'action' : call.op
  const progress = findOp(transaction, { ...call, op })
  if (progress?.state === 'succeeded') return 'yes'
  return (progress?.attempts ?? 0) > 0 || transaction.sentUnknown ? 'maybe' : 'no'
}

/** Lists the branches of an aborted saga that may have run and have no compensation. */
function listLasting(transaction: Transaction): readonly string[] {
  if (transaction.kind !== 'saga' || !('abort' in transaction)) return []
  const { branches } = transaction.definition
  return (transaction.abort?.branches ?? []).flatMap((position) => {
    const branch = branches[position]
    const isLasting = branch?.compensation === undefined && branch?.wait === undefined
    return isLasting && branch !== undefined ? [branch.id] : []
  })
}

function listSilentServices(transaction: Transaction): readonly string[] {
  const services = listCalls(transaction).flatMap((call) => {
    const progress = findOp(transaction, call)
    const isSilent = progress?.result === 'unknown' && progress.state !== 'succeeded'
    const url = findCallUrl(transaction, call) ?? ''
    return isSilent && url !== '' ? [readServiceName(url)] : []
  })
  return [...new Set(services)]
}
