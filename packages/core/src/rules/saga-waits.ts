/**
 * The branches of a saga that wait for a time or for a signal. A wait opens when its predecessors have succeeded. If the
 * process dies before that is saved, the wait opens again, later and never earlier.
 */
import { WAIT_END_MS_MAX } from '@counterstep/protocol'
import type { TimeWait, Wait } from '../definition.ts'
import { IDLE, type OpProgress, type SagaTransaction } from '../transaction.ts'
import { describeProblem, findText, type UnusableRequest } from '../values/build-request.ts'
import { succeedWithValues } from '../values/keep-values.ts'
import { readInstant, readWaitMs } from '../values/read-time.ts'
import type { Durability } from './events.ts'
import { withOp, withoutNextAt } from './op-progress.ts'
import { havePredecessorsSucceeded } from './saga-graph.ts'
import { takeKeptSignal } from './saga-signals.ts'

type Submitted = Extract<SagaTransaction, { readonly status: 'submitted' }>

export interface PassedWaits {
  readonly saga: Submitted
  readonly durability: Durability
  /** The first wait that is due and cannot open, because its time cannot be read from the values. Behind the point of no return there is none. */
  readonly unusable?: UnusableRequest
}

/** The error of a wait whose signal did not come in time. */
export const SIGNAL_TIMEOUT = 'signal-timeout'

/**
 * Opens and ends the waits that are due. It stops at a strong change, because nothing may follow from that before it is
 * durable: another node may have told a caller that its signal has ended the same wait, or another wait may take the signal.
 */
export function passWaits(saga: Submitted, now: number): PassedWaits {
  let passed: PassedWaits = { saga, durability: 'none' }
  for (let position = 0; position < saga.branches.length && passed.durability !== 'strong'; position++) {
    const next = passWait(passed, position, now)
    if (next === passed) continue
    passed = next
    // A branch that follows may stand before this one in the list.
    position = -1
  }
  return passed
}

/** Finds a wait whose signal did not come in time, and which turns the saga around. */
export function findTimedOutWait({ definition, branches }: Submitted): number | undefined {
  const position = branches.findIndex(
    ({ action }, branch) => action.state === 'failed' && definition.branches[branch]?.wait !== undefined,
  )
  return position === -1 ? undefined : position
}

type ChangedWait = Pick<PassedWaits, 'saga' | 'durability'>

/** Tells whether a wait may open: it has not, and all its predecessors have succeeded. */
export function mayOpen(saga: Submitted, position: number): boolean {
  return saga.branches[position]?.action.state === 'idle' && havePredecessorsSucceeded(saga, position)
}

function passWait(passed: PassedWaits, position: number, now: number): PassedWaits {
  const { saga } = passed
  const wait = saga.definition.branches[position]?.wait
  const progress = saga.branches[position]?.action
  if (wait === undefined || progress === undefined) return passed
  if (progress.state === 'open')
    return (progress.nextAt ?? 0) > now
      ? passed
      : { ...passed, ...endWait(saga, position, wait, progress, now) }
  if (!mayOpen(saga, position)) return passed
  const endsAt = findWaitEnd(saga, position, now)
  if (typeof endsAt === 'string')
    return passed.unusable === undefined
      ? { ...passed, unusable: { branch: position, reason: endsAt } }
      : passed
  return { ...passed, ...openWait(saga, position, endsAt, now) }
}

function openWait(saga: Submitted, position: number, endsAt: number, now: number): ChangedWait {
  const next = changeWait(saga, position, { ...IDLE, state: 'open', startedAt: now, nextAt: endsAt }, now)
  const taken = takeKeptSignal(next, position, now)
  // After a crash another wait may open first. So no branch is called because of a signal before the row says who took it.
  return taken === undefined ? { saga: next, durability: 'lazy' } : { saga: taken, durability: 'strong' }
}

function endWait(
  saga: Submitted,
  position: number,
  wait: Wait,
  before: OpProgress,
  now: number,
): ChangedWait {
  const ended = { ...withoutNextAt(before), endedAt: now }
  if (wait.type !== 'signal')
    return { saga: changeWait(saga, position, { ...ended, state: 'succeeded' }, now), durability: 'lazy' }
  const timedOut = { ...ended, error: SIGNAL_TIMEOUT }
  if (wait.onTimeout === 'abort')
    return { saga: changeWait(saga, position, { ...timedOut, state: 'failed' }, now), durability: 'strong' }
  const passed = succeedWithValues(saga, position, timedOut, undefined)
  return { saga: changeWait(saga, position, passed, now), durability: 'strong' }
}

function changeWait(saga: Submitted, position: number, progress: OpProgress, now: number): Submitted {
  return { ...withOp(saga, { branch: position, op: 'action' }, progress), updatedAt: now }
}

/**
 * Finds when a wait that opens now ends. A text says why this cannot be known, and turns the saga around. A timer that ends too
 * late for the barriers is refused, and a wait for a signal is cut. Behind the point of no return nothing can turn the saga
 * around any more, and it has to end: there a timer is cut, too, and one whose time cannot be read ends at the same instant.
 */
export function findWaitEnd(saga: Submitted, position: number, now: number): number | string {
  const wait = saga.definition.branches[position]?.wait
  const lastAt = saga.createdAt + WAIT_END_MS_MAX
  if (wait === undefined) return now
  if (wait.type === 'signal') return Math.min(lastAt, now + (wait.timeoutMs ?? WAIT_END_MS_MAX))
  const endsAt = findTimerEnd(saga, wait, now, lastAt)
  return typeof endsAt === 'string' && saga.noReturnAt !== undefined ? Math.max(now, lastAt) : endsAt
}

function findTimerEnd(saga: Submitted, wait: TimeWait, now: number, lastAt: number): number | string {
  const time = findTime(saga, wait)
  if (typeof time === 'string') return time
  const endsAt = wait.type === 'ms' ? now + time : time
  return endsAt > lastAt ? `the wait would end over ${WAIT_END_MS_MAX} ms after the accept` : endsAt
}

function findTime(saga: Submitted, wait: TimeWait): number | string {
  const given = wait.type === 'ms' ? wait.ms : wait.until
  if (typeof given === 'number') return given
  const text = findText(saga, given)
  const time = text === undefined ? undefined : wait.type === 'ms' ? readWaitMs(text) : readInstant(text)
  return time ?? describeProblem(saga, given, 'the time of a wait')
}
