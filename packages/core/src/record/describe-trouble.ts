/**
 * Says in a row's own columns what its transaction waits for, so that a list can show and find it without reading the
 * record. The columns are written with every save, and follow from the record alone.
 */
import { PROBLEM_LENGTH_MAX } from '@counterstep/protocol'
import type { Mark, StoredTransaction } from '../ports/store.ts'
import { nameOutcome } from '../rules/attempt-runs.ts'
import type { CallKey } from '../rules/events.ts'
import {
  ATTENTION_FAILURES,
  CHECK,
  findOp,
  isUnsendable,
  PARKED_OP_AT,
  PLAN,
  someOp,
} from '../rules/op-progress.ts'
import { chooseOp } from '../rules/two-phase.ts'
import { findLostAnswer } from '../rules/workflow-steps.ts'
import { hasRested } from '../run/rest-mark.ts'
import { isFinal, type OpProgress, type Transaction, type WorkflowTransaction } from '../transaction.ts'
import { JOURNAL_FULL } from '../values/keep-values.ts'
import { findCallUrl } from './find-call-url.ts'
import { readServiceName } from './service-name.ts'

/** The name of a service that alerts are sent to begins so. */
const ALERT_SERVICE = 'alert-'

export interface Trouble {
  readonly problem?: string
  readonly attempts?: number
  readonly marks?: readonly Mark[]
}

interface TroubledOp {
  readonly call: CallKey
  readonly progress: OpProgress
}

/** Says what an unfinished transaction waits for, and what operators did to it. A final one waits for nothing. */
export function describeTrouble(transaction: Transaction): Trouble {
  const marks = listMarks(transaction)
  return { ...describeProblem(transaction), ...(marks.length === 0 ? {} : { marks }) }
}

/** Says so for a row whose record cannot be read. Its marks are all that is known of it. */
export function describeUnreadable({ marks }: Pick<StoredTransaction, 'marks'>): Trouble {
  return { problem: '– record-unreadable', ...(marks === undefined ? {} : { marks }) }
}

function describeProblem(transaction: Transaction): Pick<Trouble, 'problem' | 'attempts'> {
  if (isFinal(transaction)) return {}
  const worst = findWorst(transaction)
  if (worst === undefined) return describeMark(transaction)
  const { call, progress } = worst
  const problem = `${nameService(transaction, call)} ${call.op} ${nameOutcome(progress)}`
  return { problem: problem.slice(0, PROBLEM_LENGTH_MAX), attempts: progress.attempts }
}

/**
 * Names the service of a call, or the workflow of a plan. The services that alerts are sent to are called `alert-…`, and no
 * alert tells of their problems. No submit may name them, but a workflow or a host may be called the same, and then a colon
 * follows, so that its problem is told.
 */
function nameService(transaction: Transaction, call: CallKey): string {
  const isPlan = transaction.kind === 'workflow' && call.branch === PLAN
  const url = isPlan ? '' : (findCallUrl(transaction, call) ?? '')
  const service = isPlan ? transaction.definition.workflow : readServiceName(url)
  const isOther = service.startsWith(ALERT_SERVICE) && !url.startsWith(`${service}:`)
  return isOther ? `${service}:` : service
}

function describeMark(transaction: Transaction): Pick<Trouble, 'problem'> {
  if (isUnsendable(transaction)) return { problem: '– value-unusable' }
  if (waitsForHands(transaction)) return { problem: '– by-hand' }
  if (hasLostAnswer(transaction)) return { problem: `– ${JOURNAL_FULL}` }
  return hasRested(transaction) ? { problem: '– no-progress' } : {}
}

function hasLostAnswer(transaction: Transaction): boolean {
  return (
    transaction.kind === 'workflow' &&
    transaction.status === 'submitted' &&
    findLostAnswer(transaction) !== undefined
  )
}

/** Finds the op to name: one at which a person should look, else the one with the most attempts. */
function findWorst(transaction: Transaction): TroubledOp | undefined {
  if (!someOp(transaction, isTroubled)) return undefined
  let worst: TroubledOp | undefined
  for (const call of listAwaited(transaction)) {
    const progress = findOp(transaction, call)
    if (progress === undefined || !isTroubled(progress)) continue
    if (worst === undefined || isWorse(progress, worst.progress)) worst = { call, progress }
  }
  return worst
}

/** An op keeps its trouble while it is asked again, until an answer says otherwise. */
function isTroubled({ state, result }: OpProgress): boolean {
  const isAsked = state === 'waiting' || state === 'calling' || state === 'idle'
  return isAsked && result !== undefined && result !== 'success'
}

function isWorse(a: OpProgress, b: OpProgress): boolean {
  const needsOne = needsPerson(a)
  if (needsOne !== needsPerson(b)) return needsOne
  return a.attempts > b.attempts
}

function needsPerson({ result, failures, nextAt }: OpProgress): boolean {
  return result === 'failure' || failures >= ATTENTION_FAILURES || nextAt === PARKED_OP_AT
}

/** Lists the calls on whose success the transaction waits. Given up actions are not among them. */
function listAwaited(transaction: Transaction): readonly CallKey[] {
  const branches = [...transaction.branches.keys()]
  switch (transaction.kind) {
    case 'saga': {
      const op = transaction.status === 'aborting' ? 'compensate' : 'action'
      return branches.map((branch) => ({ branch, op }))
    }
    case 'tcc':
    case 'xa': {
      if (transaction.status === 'prepared') return []
      const op = chooseOp(transaction)
      return branches.map((branch) => ({ branch, op }))
    }
    case 'message':
      if (transaction.status === 'prepared') return [{ branch: CHECK, op: 'msg' }]
      return branches.map((branch) => ({ branch, op: 'action' }))
    case 'recorded':
      return [{ branch: CHECK, op: 'msg' }]
    case 'workflow':
      return listAwaitedOfWorkflow(transaction)
  }
}

/** A workflow also waits for the compensations of its failed steps. */
function listAwaitedOfWorkflow({ status, branches }: WorkflowTransaction): readonly CallKey[] {
  const both = [...branches.keys()].flatMap((branch): CallKey[] => [
    { branch, op: 'action' },
    { branch, op: 'compensate' },
  ])
  return status === 'aborting'
    ? both.filter(({ op }) => op === 'compensate')
    : [
        { branch: PLAN, op: 'plan' },
        ...both.filter(({ branch, op }) => op !== 'action' || branches[branch]?.action.state !== 'failed'),
      ]
}

function listMarks(transaction: Transaction): readonly Mark[] {
  // Only a command of an operator makes a mark, and each has its entry in the trail.
  if (transaction.trail === undefined) return []
  const { paused, edits } = transaction
  const isByHand = someOp(transaction, ({ state, byHand }) => state === 'by-hand' || byHand !== undefined)
  return [
    ...(paused === undefined ? [] : (['paused'] as const)),
    ...(isByHand ? (['by-hand'] as const) : []),
    ...(edits === undefined ? [] : (['edited'] as const)),
  ]
}

function waitsForHands(transaction: Transaction): boolean {
  return someOp(transaction, ({ state }) => state === 'by-hand')
}
