import type { TransactionView } from '@counterstep/protocol'
import type { BranchCallNote, ClientAnswer, ClientNote, Evidence, PlannedApproval } from '../evidence.ts'
import { groupBy } from './group-by.ts'
import { isSeal } from './is-seal.ts'
import type { InvariantName, Violation } from './violation.ts'

/** Everything that is known of one saga that was to be approved. */
interface Approval {
  readonly view: TransactionView
  readonly plan: PlannedApproval
  readonly notes: readonly ClientNote[]
  readonly calls: readonly BranchCallNote[]
}

/** I33, I34, I35: by what clients and banks saw, and by what a server shows of the end. */
export function auditApprovals({ planned, approvals, notes, calls }: Evidence): Violation[] {
  const notesByGid = groupByGid(notes)
  const callsByGid = groupByGid(calls)
  return approvals.flatMap((view) => {
    const { gid } = view
    const plan = planned.get(gid)?.approval
    if (plan === undefined) return []
    const approval = { view, plan, notes: notesByGid.get(gid) ?? [], calls: callsByGid.get(gid) ?? [] }
    return [
      ...findEarlyEnds(approval).map((detail) => toViolation('I33', gid, detail)),
      ...findWrongSignals(approval).map((detail) => toViolation('I34', gid, detail)),
      ...findReturns(approval).map((detail) => toViolation('I35', gid, detail)),
    ]
  })
}

function groupByGid<Item extends { readonly gid: string }>(items: readonly Item[]) {
  return groupBy(items, ({ gid }) => gid)
}

function toViolation(invariant: InvariantName, subject: string, detail: string): Violation {
  return { invariant, subject, detail }
}

function findEarlyEnds({ view, plan, calls }: Approval): string[] {
  const faults: string[] = []
  const wait = findOp(view, plan.wait)
  const taken = (view.signals ?? []).filter(({ branchId }) => branchId === plan.wait).length
  const ends = taken + (wait?.error === undefined ? 0 : 1)
  const hasEnded = wait?.state === 'succeeded' || wait?.state === 'failed'
  if (hasEnded && ends !== 1) faults.push(`the wait has ${ends} ends`)
  if (!hasEnded && ends > 0) faults.push(`the wait is ${wait?.state}, and has ${ends} ends`)
  const timeoutMs = view.branches.find(({ id }) => id === plan.wait)?.wait?.timeoutMs ?? 0
  const restMs = view.branches.find(({ id }) => id === plan.timer)?.wait?.ms ?? 0
  const timer = findOp(view, plan.timer)
  if (wait?.error !== undefined && lasted(wait) < timeoutMs)
    faults.push(`the wait had its timeout of ${timeoutMs} ms after ${lasted(wait)} ms`)
  if (timer?.state === 'succeeded' && lasted(timer) < restMs)
    faults.push(`the timer of ${restMs} ms took ${lasted(timer)} ms`)
  // A node's own instants lag behind the store's clock, each by another amount. So the bank's are taken.
  const firstAt = Math.min(...calls.flatMap(({ branchId, at }) => (branchId === plan.pivot ? [at] : [])))
  const endsAt = (timer?.startedAt ?? Number.POSITIVE_INFINITY) + restMs
  if (firstAt < endsAt) faults.push(`the pivot was called ${endsAt - firstAt} ms before the end of the timer`)
  return faults
}

function findWrongSignals({ view, plan, notes }: Approval): string[] {
  const signals = new Map((view.signals ?? []).map((signal) => [signal.id, signal]))
  const faults = [...signals.values()]
    .filter(({ state, branchId }) => state === 'taken' && branchId !== plan.wait)
    .map(({ id }) => `${id} was taken by ${view.branches.find((each) => each.id === id)?.id ?? 'no wait'}`)
  for (const { ask, answer } of notes) {
    if (answer.type === 'signal') {
      const stored = signals.get(answer.id)
      if (stored === undefined) faults.push(`${answer.id} was acknowledged, and is not there`)
      else if (answer.state === 'taken' && stored.state !== 'taken')
        faults.push(`${answer.id} was acknowledged as taken, and is ${stored.state}`)
    } else if (ask === 'signal' && isWrong(answer)) faults.push(`a signal was answered ${answer.code}`)
  }
  return faults
}

const TOO_LATE: ReadonlySet<string> = new Set(['SAGA_TURNED_AROUND', 'SAGA_ALREADY_FINAL'])
const TOO_MANY_REQUESTS = 429

/** A signal is refused only where it is too late. The client sends it again after a 5xx and a 429. */
function isWrong(answer: ClientAnswer): answer is Extract<ClientAnswer, { readonly type: 'problem' }> {
  if (answer.type !== 'problem' || answer.statusCode >= 500 || answer.statusCode === TOO_MANY_REQUESTS)
    return false
  return !TOO_LATE.has(answer.code)
}

function findReturns({ view, plan, notes, calls }: Approval): string[] {
  const faults: string[] = []
  const beyond = calls.filter(({ branchId }) => branchId === plan.pivot || branchId === plan.retriable)
  const { status, abort } = view
  const isByPivot =
    view.kind === 'workflow'
      ? abort?.cause === 'workflow-failed' && findOp(view, plan.pivot)?.state === 'failed'
      : abort?.cause === 'branch-failed' && abort.branchId === plan.pivot
  if (beyond.length > 0 && status === 'failed' && !isByPivot)
    faults.push(`it was aborted by ${abort?.cause}, and the pivot had been called`)
  const hasSucceeded = calls.some(({ branchId, statusCode }) => branchId === plan.pivot && statusCode === 200)
  if (hasSucceeded && calls.some((call) => call.op === 'compensate' && !isOfFailedStep(view, call.branchId)))
    faults.push('a compensation was sent, and the pivot has succeeded')
  if (!hasSucceeded && calls.some(({ branchId }) => branchId === plan.retriable))
    faults.push('the retriable was called, and the pivot has not succeeded')
  const hasMark = notes.some(({ answer }) =>
    answer.type === 'view' ? answer.hasMark : answer.type === 'problem' && answer.code === 'SAGA_NO_RETURN',
  )
  if (hasMark && status === 'failed' && !isByPivot)
    faults.push(`a client was told that there is no return, and it was aborted by ${abort?.cause}`)
  return faults
}

/** A workflow may go on after the failure of a step, which is compensated beside what follows. */
function isOfFailedStep({ kind, branches }: TransactionView, branchId: string): boolean {
  const step = branches.find(({ id }) => id === branchId)
  return kind === 'workflow' && step !== undefined && (isSeal(step) || step.ops[0]?.state === 'failed')
}

function findOp({ branches }: TransactionView, id: string) {
  return branches.find((branch) => branch.id === id)?.ops[0]
}

function lasted({
  startedAt = Number.NaN,
  endedAt = Number.NaN,
}: NonNullable<ReturnType<typeof findOp>>): number {
  return endedAt - startedAt
}
