/** Gives signals to the waits of a saga. A signal is taken by one wait at most, and the oldest of a name comes first. */
import type { SagaTransaction, Signal } from '../transaction.ts'
import { computeOnce } from '../values/compute-once.ts'
import { countBytes } from '../values/count-bytes.ts'
import { JOURNAL_FULL, succeedWithValues } from '../values/keep-values.ts'
import { withOp, withoutNextAt } from './op-progress.ts'

type Submitted = Extract<SagaTransaction, { readonly status: 'submitted' }>

/** Adds a signal that has just come. `taker` is the position of the open wait that takes it. Without one it is kept. */
export function addSignal(
  saga: Submitted,
  signal: Signal,
  taker: number | undefined,
  now: number,
): Submitted {
  const signals = [...(saga.signals ?? []), signal]
  const next = { ...saga, signals, updatedAt: now }
  return taker === undefined ? next : takeSignal(next, signal, taker, now)
}

/** Gives a wait that opens the oldest kept signal of its name. Returns undefined if there is none. */
export function takeKeptSignal(saga: Submitted, position: number, now: number): Submitted | undefined {
  const name = findSignalName(saga, position)
  const oldest = saga.signals?.find((signal) => signal.takenBy === undefined && signal.name === name)
  return oldest === undefined ? undefined : takeSignal(saga, oldest, position, now)
}

/** Tells whether a branch of the saga waits for a signal of this name, at any time. */
export function waitsForSignal({ definition }: SagaTransaction, name: string): boolean {
  return definition.branches.some(({ wait }) => wait?.type === 'signal' && wait.name === name)
}

/** Counts the bytes of the payloads that these signals still have. */
export const countSignalBytes = computeOnce((signals: readonly Signal[]) =>
  signals.reduce((sum, { payload = '' }) => sum + countBytes(payload), 0),
)

/** Lists the positions of the open waits for a signal of this name. */
export function listAwaiting(saga: SagaTransaction, name: string): readonly number[] {
  return saga.branches.flatMap(({ action }, position) =>
    action.state === 'open' && findSignalName(saga, position) === name ? [position] : [],
  )
}

function findSignalName({ definition }: SagaTransaction, position: number): string | undefined {
  const wait = definition.branches[position]?.wait
  return wait?.type === 'signal' ? wait.name : undefined
}

function takeSignal(saga: Submitted, taken: Signal, position: number, now: number): Submitted {
  const open = saga.branches[position]?.action
  if (open === undefined) return saga
  const { payload, ...rest } = taken
  const ended = { ...withoutNextAt(open), endedAt: now }
  const succeeded = succeedWithValues(saga, position, ended, payload)
  // A payload for which the journal has no room stands in the signal alone.
  const kept = succeeded.error === JOURNAL_FULL ? taken : rest
  const signals = (saga.signals ?? []).map((signal) =>
    signal === taken ? { ...kept, takenBy: position } : signal,
  )
  return { ...withOp(saga, { branch: position, op: 'action' }, succeeded), signals }
}
