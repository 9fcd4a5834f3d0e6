import { type AbortView, isUndo, type OpView, type TransactionView } from '@counterstep/protocol'
import { adviseOn } from './advise-on.ts'
import { describeNamedOutcome, describeOutcome } from './describe-outcome.ts'
import { describeProblem } from './describe-problem.ts'
import { formatDuration } from './durations.ts'
import { findTroubledOp, listOps, type PlacedOp } from './find-troubled-op.ts'
import { nameHandler, nameOp } from './name-op.ts'
import { quoteAnswer, quoteText } from './quote.ts'
import { readOutcome } from './read-outcome.ts'
import { readService } from './read-service.ts'

/** Each field is one or more whole sentences. */
export interface Explanation {
  readonly headline: string
  /** Why it has come to this, for example why a saga turned around. */
  readonly cause?: string
  /** Says what follows by itself. */
  readonly next?: string
  /** Says what a person may do. It is there only where one should do something. */
  readonly advice?: string
}

export interface ExplainOptions {
  /** The instant that waits are counted from, by the clock of the server. */
  readonly now: number
  /** Writes an instant as the reader wants it. The default is UTC. */
  readonly formatTime?: (at: number) => string
}

/** Says why a transaction is where it is, what follows, and what a person may do. */
export function explainTransaction(view: TransactionView, options: ExplainOptions): Explanation {
  const formatTime = options.formatTime ?? formatUtc
  const cause = explainAbort(view, formatTime)
  const withCause = cause === undefined ? {} : { cause }
  if (view.finishedAt !== undefined || isEnded(view)) return { headline: describeEnd(view), ...withCause }
  if (view.paused !== undefined) return { ...describePause(view, formatTime), ...withCause }
  const explanation = { ...describeState(view, { ...options, formatTime }), ...withCause }
  const aheadMs = view.createdAt - options.now
  return aheadMs < CLOCK_AHEAD_MS ? explanation : { ...explanation, ...adviseOnClock(explanation, aheadMs) }
}

/** Clocks of the server and the store differ by less. */
const CLOCK_AHEAD_MS = 60_000

function describeState(view: TransactionView, settled: Settled): Explanation {
  const troubled = findTroubledOp(view)
  if (troubled !== undefined) return describeTrouble(view, troubled, settled)
  return view.problem === undefined ? describeProgress(view, settled) : describeProblem(view.problem)
}

function adviseOnClock({ advice }: Explanation, aheadMs: number): Pick<Explanation, 'advice'> {
  const ahead = `The clock has been set back since it was accepted, which is ${formatDuration(aheadMs)} ahead of now.`
  const text = `${ahead} What it waits for comes that much later, and a retry makes its calls due.`
  return { advice: advice === undefined ? text : `${advice} ${text}` }
}

type Settled = Required<ExplainOptions>

function isEnded({ status }: TransactionView): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'stopped'
}

function describeEnd(view: TransactionView): string {
  const ms = (view.finishedAt ?? view.updatedAt) - view.createdAt
  const byHand = listOps(view).some(({ op }) => op.byHand !== undefined)
    ? ' A person declared at least one call of it done.'
    : ''
  if (view.status === 'succeeded') {
    const how = view.kind === 'workflow' ? 'Its code has returned' : 'Every branch is done'
    return `${how}, after ${formatDuration(ms)}.${byHand}`
  }
  if (view.status === 'stopped') return 'An operator ended it as it was. Nothing was undone after that.'
  const ran = view.branches.some(({ ops }) =>
    ops.some(({ op, state }) => isUndo(op) && state === 'succeeded'),
  )
  const undone = ran ? 'Everything that may have run is undone' : 'It ended without anything to undo'
  return `${undone}, after ${formatDuration(ms)}.${describeKept(view)}${byHand}`
}

const KEPT_NAMED_MAX = 3

/** Names what was done and has no compensation, which a reader would otherwise take for undone. */
function describeKept({ branches }: TransactionView): string {
  const kept = branches.filter(
    ({ ops, wait, is = 'call' }) =>
      wait === undefined &&
      (is === 'call' || is === 'step') &&
      ops.some(({ op, state }) => op === 'action' && state === 'succeeded') &&
      !ops.some(({ op }) => isUndo(op)),
  )
  if (kept.length === 0) return ''
  const names = kept.slice(0, KEPT_NAMED_MAX).map(({ id, stepId = id }) => stepId)
  const more = kept.length > KEPT_NAMED_MAX ? `, and ${kept.length - KEPT_NAMED_MAX} more` : ''
  return ` What has no undo stays as it was done: ${names.join(', ')}${more}.`
}

function describePause({ paused }: TransactionView, formatTime: (at: number) => string): Explanation {
  const who = paused?.by.person ?? paused?.by.key?.name
  const by = who === undefined ? '' : ` by ${who}`
  const until = paused?.until === undefined ? 'until it is resumed' : `until ${formatTime(paused.until)}`
  return {
    headline: `It is paused ${until}: no call starts.`,
    next: paused === undefined ? '' : `It was paused${by} at ${formatTime(paused.at)}.`,
  }
}

function describeTrouble(
  view: TransactionView,
  { branchId, stepId, op }: PlacedOp,
  settled: Settled,
): Explanation {
  const name = nameOp(op.op, stepId ?? branchId)
  if (op.state === 'by-hand') {
    return {
      headline: `The action of ${branchId} was done by hand, so a person must undo it by hand.`,
      advice: adviseOn('by-hand'),
    }
  }
  const outcome = readOutcome(op)
  const service = readService(op)
  const run = op.runs?.at(-1)
  const since = run === undefined || run.count < 2 ? '' : ` since ${settled.formatTime(run.firstAt)}`
  const said = quoteAnswer(op.answer ?? run?.excerpt)
  const next = describeNext(view, op, settled)
  if (op.op === 'plan') {
    const handler = nameHandler(view.workflow?.name ?? service)
    const why = quotePlanFault(view, outcome) ?? said
    return {
      headline: `${handler} ${describeOutcome(outcome, 'plan')}${since}, attempt ${op.attempts}${why}.`,
      next,
      advice: adviseOn(outcome, 'plan'),
    }
  }
  const isPatient = view.attention === undefined && outcome === '425'
  return {
    headline: `${service} ${describeNamedOutcome(outcome, name)}${since}, attempt ${op.attempts}${said}.`,
    next,
    ...(isPatient ? {} : { advice: adviseOnStep(view, outcome) }),
  }
}

/** The attention says more about an answer that is no plan than its beginning does. It may be that of an earlier answer. */
function quotePlanFault({ attention = '' }: TransactionView, outcome: string): string | undefined {
  const start =
    outcome === 'bad-plan' ? 'the plan cannot be carried out: ' : `the plan was refused with ${outcome}: `
  return attention.startsWith(start) ? `: ${quoteText(attention.slice(start.length))}` : undefined
}

function adviseOnStep({ kind }: TransactionView, outcome: string): string {
  const advice = adviseOn(outcome)
  const isVain = kind === 'workflow' && /\b(?:edit|skip)\b/i.test(advice)
  return isVain ? `${advice} A step of a workflow can be neither edited nor skipped.` : advice
}

function describeNext(view: TransactionView, op: OpView, { now }: Settled): string {
  const after = describeAfter(view, op)
  if (op.state === 'calling') return `It is being called now. ${after}`
  if (op.nextAt === undefined) return 'No further attempt is due until a person gives a retry.'
  const wait = op.nextAt - now
  return wait <= 0
    ? `The next attempt is due now. ${after}`
    : `Next attempt in ${formatDuration(wait)}. ${after}`
}

function describeAfter(view: TransactionView, op: OpView): string {
  // Only its code knows how many calls follow.
  if (op.op === 'plan') return 'Nothing is undone because of it.'
  if (view.kind === 'workflow' && view.status === 'submitted') return 'Then its code says what follows.'
  const left = listOps(view).filter((each) => each.op !== op && isOpen(view, each.op)).length
  return left === 0
    ? 'It is the last call: then the transaction ends.'
    : `After it ${left} more ${left === 1 ? 'call is' : 'calls are'} left.`
}

/** Whether the op is still to be called in the direction that the transaction has. */
function isOpen({ status }: TransactionView, { op, state }: OpView): boolean {
  if (state === 'succeeded' || state === 'failed') return false
  if (status === 'aborting') return isUndo(op) && state !== 'idle'
  return !isUndo(op)
}

function describeProgress(view: TransactionView, settled: Settled): Explanation {
  const waiting = listOps(view).find(({ op }) => op.state === 'open')
  if (waiting?.branchId !== undefined) return describeWait(view, waiting.branchId, settled)
  if (view.startAt !== undefined && view.startAt > settled.now) {
    return { headline: `It starts in ${formatDuration(view.startAt - settled.now)}, as its client wanted.` }
  }
  if (view.status === 'prepared') return describePrepared(view, settled)
  const calling = listOps(view).find(({ op }) => op.state === 'calling')
  const verb = view.status === 'aborting' ? 'It is being undone' : 'It is running'
  if (calling === undefined) return { headline: `${verb}.` }
  if (calling.op.op === 'plan') return { headline: `${verb}: its code is asked what comes next.` }
  const name = nameOp(calling.op.op, calling.stepId ?? calling.branchId)
  return { headline: `${verb}: ${name} is being called.` }
}

function describeWait(view: TransactionView, branchId: string, { now }: Settled): Explanation {
  const branch = view.branches.find(({ id }) => id === branchId)
  const endsAt = branch?.ops[0]?.nextAt
  const left = endsAt === undefined ? '' : formatDuration(Math.max(0, endsAt - now))
  const { signal, onTimeout } = branch?.wait ?? {}
  if (signal === undefined) return { headline: `${branchId} waits for its time, another ${left}.` }
  const otherwise = onTimeout === 'continue' ? 'goes on' : 'turns around'
  return {
    headline: `${branchId} waits for the signal “${signal}”.`,
    ...(left === '' ? {} : { next: `Without it the ${view.kind} ${otherwise} in ${left}.` }),
  }
}

function describeRecorded({ check, checkAt = 0 }: TransactionView, now: number): Explanation {
  const left = formatDuration(Math.max(0, (check?.nextAt ?? checkAt) - now))
  return {
    headline: 'Its client runs it, and has not said yet how it has ended.',
    next: `Without a report its client is called back in ${left}.`,
  }
}

function describePrepared(view: TransactionView, { now }: Settled): Explanation {
  if (view.kind === 'recorded') return describeRecorded(view, now)
  const endsAt = view.kind === 'message' ? view.checkAt : view.deadlineAt
  const left = endsAt === undefined ? undefined : formatDuration(Math.max(0, endsAt - now))
  const otherwise = view.kind === 'message' ? 'its sender is asked' : 'every branch is cancelled'
  return {
    headline: 'It is prepared, and waits for its client to submit or abort it.',
    ...(left === undefined ? {} : { next: `Without that ${otherwise} in ${left}.` }),
  }
}

function explainAbort({ abort }: TransactionView, formatTime: (at: number) => string): string | undefined {
  if (abort === undefined) return undefined
  return `It turned around at ${formatTime(abort.at)}, because ${describeCause(abort)}.`
}

function describeCause({ cause, branchId, reason, code, message }: AbortView): string {
  const words = message ?? reason ?? code
  const said = words === undefined ? '' : `: ${quoteText(words)}`
  switch (cause) {
    case 'branch-failed':
      return `${branchId} refused${said}`
    case 'retry-limit':
      return `${branchId} failed as often as its limit allows`
    case 'deadline':
      return 'its deadline passed'
    case 'requested':
      return `its abort was asked for${said}`
    case 'check-failed':
      return 'its sender never committed'
    case 'value-unusable':
      return `a request of ${branchId} could not be built${said}`
    case 'signal-timeout':
      return `the signal for ${branchId} did not come in time`
    case 'workflow-failed':
      return `its code failed${said}`
    default:
      return `of ${String(cause)}${said}`
  }
}

function formatUtc(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)} UTC`
}
