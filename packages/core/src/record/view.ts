import {
  type AbortView,
  ANSWER_BYTES_MAX,
  type BranchView,
  type JsonValue,
  type OpView,
  REASON_LENGTH_MAX,
  type ReceivedSignalView,
  type Status,
  type TransactionView,
  type WaitView,
} from '@counterstep/protocol'
import type { SagaDefinition, Wait } from '../definition.ts'
import { checkAt } from '../rules/message.ts'
import { findOp, PARKED_OP_AT } from '../rules/op-progress.ts'
import { deadlineAt } from '../rules/saga-effects.ts'
import { decisionDeadlineAt } from '../rules/two-phase.ts'
import { isSeal, toSaga } from '../rules/workflow-steps.ts'
import { getTraceId } from '../submission/read-trace-context.ts'
import {
  type AbortDecision,
  type CalledOp,
  getBranchTargets,
  hasSteps,
  IDLE,
  type OpProgress,
  type RecordedTransaction,
  type SagaTransaction,
  type Signal,
  type Transaction,
} from '../transaction.ts'
import { buildOutput } from '../values/build-request.ts'
import type { Writable } from '../writable.ts'
import { cleanText } from './clean-text.ts'
import { describeTrouble } from './describe-trouble.ts'
import { findEdit } from './edits.ts'
import { readServiceName } from './service-name.ts'
import { viewTrail } from './trail.ts'
import { viewStep, viewWorkflow } from './view-workflow.ts'
import { withoutQuery } from './without-query.ts'

/** A longer text is not parsed, because no answer and no reason is stored beyond its limit. */
const ANSWERED_PROBLEM_LENGTH_MAX = Math.max(ANSWER_BYTES_MAX, REASON_LENGTH_MAX)

interface Problem {
  readonly code?: string
  readonly message?: string
}

/**
 * Shows a transaction as a caller may see it. `durableStatus` is the last status that is durable. A later status and the
 * fields that only it has are not shown, because a crash could take them back. For the same reason the signals and the mark
 * of no return are those of `durable`.
 */
export function viewTransaction(
  transaction: Transaction,
  durableStatus: Status,
  durable: Transaction = transaction,
): TransactionView {
  const { attention, definition } = transaction
  const { problem } = describeTrouble(transaction)
  const isUndecided = durableStatus === 'prepared' || durableStatus === 'submitted'
  const abort = !isUndecided && 'abort' in transaction ? transaction.abort : undefined
  const finished = durableStatus === transaction.status && 'finishedAt' in transaction
  return {
    gid: transaction.gid,
    kind: transaction.kind,
    status: durableStatus,
    createdAt: transaction.createdAt,
    updatedAt: transaction.updatedAt,
    epoch: transaction.epoch,
    ...viewInstants(transaction),
    ...(finished ? { finishedAt: transaction.finishedAt } : {}),
    ...(definition.name === undefined ? {} : { name: definition.name }),
    ...(definition.tags === undefined ? {} : { tags: definition.tags }),
    ...(definition.trace === undefined ? {} : { traceId: getTraceId(definition.trace) }),
    ...(problem === undefined ? {} : { problem }),
    ...(attention === undefined ? {} : { attention }),
    ...viewCommands(durable),
    ...(abort === undefined ? {} : { abort: viewAbort(transaction, abort) }),
    ...(durableStatus === 'succeeded' ? viewOutput(transaction) : {}),
    ...(hasSteps(durable) ? viewStages(toSaga(durable), isUndecided) : {}),
    ...(transaction.kind === 'workflow'
      ? viewWorkflow(
          transaction,
          durableStatus,
          viewOp('plan', transaction.definition.handler, transaction.plan.call),
        )
      : {}),
    ...(transaction.kind === 'message' && transaction.definition.check !== undefined
      ? { check: viewOp('msg', transaction.definition.check.url, transaction.check) }
      : {}),
    ...(transaction.kind === 'recorded' ? viewRecorded(transaction, durable) : {}),
    branches: transaction.branches.map((_, branch) => viewBranch(transaction, branch)),
  }
}

/** The data of the steps may be secret. */
function viewRecorded(
  { definition, check }: RecordedTransaction,
  durable: Transaction,
): Pick<TransactionView, 'check' | 'records'> {
  const { records = [] } = durable.kind === 'recorded' ? durable : {}
  return {
    check: viewOp('msg', definition.callback.url, check),
    records: records.map(({ branchId, op, status }) => ({ branchId, op, status })),
  }
}

/** A command is shown when it is durable, because a crash could take it back before. */
function viewCommands({ paused, trail }: Transaction): Pick<TransactionView, 'paused' | 'trail'> {
  return {
    ...(paused === undefined ? {} : { paused }),
    ...(trail === undefined ? {} : { trail: viewTrail(trail) }),
  }
}

/** Shows the mark of no return while it counts, and the signals without their payloads, which may be secret. */
function viewStages(
  { noReturnAt, signals, definition }: SagaTransaction,
  isUndecided: boolean,
): Pick<TransactionView, 'noReturnAt' | 'signals'> {
  return {
    ...(noReturnAt === undefined || !isUndecided ? {} : { noReturnAt }),
    ...(signals === undefined ? {} : { signals: signals.map((signal) => viewSignal(signal, definition)) }),
  }
}

function viewSignal({ name, id, takenBy }: Signal, { branches }: SagaDefinition): ReceivedSignalView {
  if (takenBy === undefined) return { name, id, state: 'kept' }
  const branchId = branches[takenBy]?.id
  return { name, id, state: 'taken', ...(branchId === undefined ? {} : { branchId }) }
}

function viewOutput(transaction: Transaction): Pick<TransactionView, 'output'> {
  const output = transaction.kind === 'saga' ? buildOutput(transaction) : undefined
  return output === undefined ? {} : { output: JSON.parse(output) as JsonValue }
}

/**
 * Shows when the transaction starts, when it is given up and when its sender is asked, as far as its definition has
 * these instants.
 */
function viewInstants(
  transaction: Transaction,
): Partial<Pick<TransactionView, 'startAt' | 'deadlineAt' | 'checkAt'>> {
  const { kind, createdAt, definition } = transaction
  if (kind === 'tcc' || kind === 'xa') return { deadlineAt: decisionDeadlineAt(transaction) }
  if (kind === 'recorded') return { checkAt: createdAt + definition.retry.initialMs }
  const start = definition.delayMs === undefined ? {} : { startAt: createdAt + definition.delayMs }
  if (kind === 'saga' || kind === 'workflow') {
    const deadline = deadlineAt(toSaga(transaction))
    return { ...start, ...(deadline === undefined ? {} : { deadlineAt: deadline }) }
  }
  const check = checkAt(transaction)
  return { ...start, ...(check === undefined ? {} : { checkAt: check }) }
}

function viewAbort(transaction: Transaction, { cause, at, reason, branch }: AbortDecision): AbortView {
  const branchId = branch === undefined ? undefined : getBranchTargets(transaction)[branch]?.id
  return {
    cause,
    at,
    ...(reason === undefined ? {} : { reason }),
    ...(branchId === undefined ? {} : { branchId }),
    ...readProblem(branch === undefined ? reason : actionAnswer(transaction, branch)),
  }
}

/** Finds the answer of the action that caused the abort. The branches of a TCC have no action. */
function actionAnswer({ branches }: Transaction, branch: number): string | undefined {
  const progress = branches[branch]
  return progress !== undefined && 'action' in progress ? progress.action.answer : undefined
}

function viewBranch(transaction: Transaction, branch: number): BranchView {
  const { role, wait } = hasSteps(transaction) ? (toSaga(transaction).definition.branches[branch] ?? {}) : {}
  return {
    id: getBranchTargets(transaction)[branch]?.id ?? '',
    after: viewAfter(transaction, branch),
    ...(transaction.kind === 'workflow' ? viewStep(transaction, branch) : {}),
    ...(role === undefined ? {} : { role }),
    ...(wait === undefined ? {} : { wait: viewWait(wait) }),
    ops: viewOps(transaction, branch).map((view) => withHands(transaction, branch, view)),
  }
}

/** Adds what operators did to the op. */
function withHands(transaction: Transaction, branch: number, view: OpView): OpView {
  if (transaction.trail === undefined) return view
  const call = { branch, op: view.op as CalledOp }
  const byHand = findOp(transaction, call)?.byHand
  return {
    ...view,
    ...(byHand === undefined ? {} : { byHand }),
    ...(findEdit(transaction, call) === undefined ? {} : { edited: true as const }),
  }
}

function viewWait(wait: Wait): WaitView {
  switch (wait.type) {
    case 'ms':
      return typeof wait.ms === 'number' ? { ms: wait.ms } : {}
    case 'until':
      return typeof wait.until === 'number' ? { until: wait.until } : {}
    case 'signal': {
      const { name: signal, timeoutMs, onTimeout } = wait
      return { signal, onTimeout, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
    }
  }
}

function viewAfter(transaction: Transaction, branch: number): string[] {
  const targets = getBranchTargets(transaction)
  const ids = (positions: readonly number[]) => positions.map((before) => targets[before]?.id ?? '')
  switch (transaction.kind) {
    case 'saga':
      return ids(transaction.definition.branches[branch]?.after ?? [])
    case 'tcc':
      // Branches are called newest first, so each one waits for the one behind it in the list.
      return ids(branch + 1 < targets.length ? [branch + 1] : [])
    case 'xa':
      return ids(branch === 0 ? [] : [branch - 1])
    case 'recorded':
      return []
    case 'message':
      return ids(transaction.definition.concurrent || branch === 0 ? [] : [branch - 1])
    case 'workflow':
      // Its code knows why it has planned a step.
      return []
  }
}

function viewOps(transaction: Transaction, branch: number): OpView[] {
  switch (transaction.kind) {
    case 'saga':
    case 'workflow': {
      const { action, compensation, wait } = toSaga(transaction).definition.branches[branch] ?? {}
      const progress = transaction.branches[branch]
      // Nothing is known of the action of a slot that may have run.
      if (transaction.kind === 'workflow' && isSeal(transaction.steps[branch]))
        return [viewOp('compensate', compensation, progress?.compensate)]
      const forward = viewOp('action', wait === undefined ? action : undefined, progress?.action)
      return compensation === undefined
        ? [forward]
        : [forward, viewOp('compensate', compensation, progress?.compensate)]
    }
    case 'tcc': {
      const { confirm, cancel } = transaction.registered[branch] ?? {}
      const progress = transaction.branches[branch]
      return [viewOp('confirm', confirm, progress?.confirm), viewOp('cancel', cancel, progress?.cancel)]
    }
    case 'xa': {
      const { url } = transaction.registered[branch] ?? {}
      const progress = transaction.branches[branch]
      return [viewOp('commit', url, progress?.commit), viewOp('rollback', url, progress?.rollback)]
    }
    case 'recorded':
      return []
    case 'message':
      return [
        viewOp(
          'action',
          transaction.definition.branches[branch]?.action,
          transaction.branches[branch]?.action,
        ),
      ]
  }
}

function viewOp(op: CalledOp, url: string | undefined, progress: OpProgress = IDLE): OpView {
  const { state, attempts, result, statusCode, answer, error, startedAt, endedAt, durationMs, nextAt } =
    progress
  const view: Writable<OpView> =
    url === undefined ? { op, state, attempts } : { op, url: withoutQuery(url), state, attempts }
  // An op with an empty URL succeeds without being sent.
  if (url !== undefined && url !== '') view.service = readServiceName(url)
  if (startedAt !== undefined) view.startedAt = startedAt
  if (result !== undefined) view.result = result
  if (endedAt !== undefined) view.endedAt = endedAt
  if (durationMs !== undefined) view.durationMs = durationMs
  if (statusCode !== undefined) view.statusCode = statusCode
  if (answer !== undefined) view.answer = answer
  if (error !== undefined) view.error = error
  if (nextAt !== undefined && nextAt !== PARKED_OP_AT) view.nextAt = nextAt
  if (progress.runs !== undefined) view.runs = progress.runs
  return view
}

/**
 * Reads the `code` and the `message` of a stored answer or reason that is JSON. The result is empty for every other text, and
 * for an answer that was cut at its limit: such a text is shown as it is, and no part of it is guessed.
 */
function readProblem(text: string | undefined): Problem {
  if (text === undefined || text.length > ANSWERED_PROBLEM_LENGTH_MAX || !text.trimStart().startsWith('{'))
    return {}
  let value: { readonly code?: unknown; readonly message?: unknown }
  try {
    value = JSON.parse(text)
  } catch {
    // The text only begins like JSON, or it is an excerpt of JSON.
    return {}
  }
  const { code, message } = value
  if (typeof code !== 'string' || code === '') return {}
  return typeof message === 'string'
    ? { code: cleanText(code), message: cleanText(message) }
    : { code: cleanText(code) }
}
