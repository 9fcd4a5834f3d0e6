/** Wrong rules for sagas that wait, take signals and have a point of no return. */
import {
  decodeTransaction,
  encodeProgress,
  isFinal,
  type OpProgress,
  RULES,
  type Rules,
  type SagaTransaction,
  type Signal,
  type StoredTransaction,
  type Transaction,
} from '@counterstep/core'
import type { Flaw } from './wiring.ts'

/** A timer takes half of its time. */
export const timerEarly: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (transaction.kind !== 'saga' || next.kind !== 'saga') return folded
    const halved = mapWaits(next, (progress, branch) => {
      const isNew = progress.state === 'open' && transaction.branches[branch]?.action.state !== 'open'
      const { nextAt = now } = progress
      return isNew ? { ...progress, nextAt: now + Math.floor((nextAt - now) / 2) } : progress
    })
    return { ...folded, next: halved }
  },
}

/** An operator's retry ends open waits, as if they waited for a retry. */
export const retryEndsTimer: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    if (event.type !== 'retry-asked' || folded.next.kind !== 'saga') return folded
    const ended = mapWaits(folded.next, (progress) =>
      progress.state === 'open' ? { ...progress, nextAt: now } : progress,
    )
    return { ...folded, next: ended }
  },
}

/** A signal that comes again counts again. */
export const signalTwice: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const isAgain =
      event.type === 'signal-asked' &&
      transaction.kind === 'saga' &&
      transaction.status === 'submitted' &&
      transaction.signals?.some(({ id }) => id === event.signal.id) === true
    if (!isAgain) return RULES.fold(transaction, event, now)
    const rename = (signals: readonly Signal[], from: string, to: string) =>
      signals.map((signal) => (signal.id === from ? { ...signal, id: to } : signal))
    const { id } = event.signal
    const hidden = { ...transaction, signals: rename(transaction.signals ?? [], id, `${id}~`) }
    const folded = RULES.fold(hidden, event, now)
    if (folded.next.kind !== 'saga') return folded
    return { ...folded, next: { ...folded.next, signals: rename(folded.next.signals ?? [], `${id}~`, id) } }
  },
}

/** A signal ends every open wait of its name. */
export const signalToTwo: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    const { next } = folded
    if (next.kind !== 'saga' || transaction.kind !== 'saga' || next.signals === transaction.signals)
      return folded
    const taken = next.signals?.filter(({ takenBy }) => takenBy !== undefined) ?? []
    const both = mapWaits(next, (progress, branch) => {
      const wait = next.definition.branches[branch]?.wait
      const taker = taken.find(({ name }) => wait?.type === 'signal' && wait.name === name)?.takenBy
      return taker !== undefined && progress.state === 'open'
        ? (next.branches[taker]?.action ?? progress)
        : progress
    })
    return { ...folded, next: both }
  },
}

/** The pivot is called while the mark of no return is still being saved. */
export const pivotUnmarked: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const folded = RULES.fold(transaction, event, now)
    return !isMarked(transaction) && isMarked(folded.next) ? { ...folded, durability: 'lazy' } : folded
  },
}

/** The deadline counts also after the point of no return. */
export const deadlineAfterPivot: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const { deadlineMs = Number.POSITIVE_INFINITY } =
      'deadlineMs' in transaction.definition ? transaction.definition : {}
    const isLate = isMarked(transaction) && now >= transaction.createdAt + deadlineMs
    const isAsked = event.type === 'time' || event.type === 'claimed'
    return RULES.fold(isLate && isAsked ? withoutMark(transaction) : transaction, event, now)
  },
}

/** An abort is obeyed after the point of no return, since nothing is known of the pivot yet. */
export const abortWhilePivotUnknown: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    return RULES.fold(event.type === 'abort-asked' ? withoutMark(transaction) : transaction, event, now)
  },
}

/** A retriable that answers failure turns the saga around. */
export const retriableFails: Rules = {
  ...RULES,
  fold(transaction, event, now) {
    const isFailure =
      transaction.kind === 'saga' && event.type === 'answered' && event.answer.result === 'failure'
    if (!isFailure) return RULES.fold(transaction, event, now)
    const { definition } = transaction
    const branches = definition.branches.map((branch) =>
      branch.role === 'retriable' ? { ...branch, role: 'pivot' as const } : branch,
    )
    const folded = RULES.fold({ ...transaction, definition: { ...definition, branches } }, event, now)
    return folded.next.kind === 'saga' ? { ...folded, next: { ...folded.next, definition } } : folded
  },
}

/** Returns the row as a run would merge it that drops signals or lets its own timeouts stand. */
export function spoilSignals(
  row: StoredTransaction,
  ours: Transaction,
  flaw: Flaw | undefined,
): StoredTransaction {
  if (flaw !== 'signal-dropped-on-learn' && flaw !== 'timeout-beats-signal') return row
  const stored = decodeTransaction(row)
  if (stored.kind !== 'saga' || ours.kind !== 'saga' || isFinal(stored)) return row
  const known = new Set(ours.signals?.map(({ id }) => id))
  const branches = stored.branches.map((progress, branch) => {
    const own = ours.branches[branch] ?? progress
    if (stored.definition.branches[branch]?.wait === undefined) return progress
    return flaw === 'signal-dropped-on-learn' || own.action.error !== undefined ? own : progress
  })
  const signals =
    flaw === 'timeout-beats-signal' ? stored.signals : stored.signals?.filter(({ id }) => known.has(id))
  return {
    ...row,
    progress: encodeProgress({ ...stored, branches, ...(signals === undefined ? {} : { signals }) }),
  }
}

function mapWaits(
  saga: SagaTransaction,
  map: (progress: OpProgress, branch: number) => OpProgress,
): SagaTransaction {
  const branches = saga.branches.map(({ action, compensate }, branch) =>
    saga.definition.branches[branch]?.wait === undefined
      ? { action, compensate }
      : { action: map(action, branch), compensate },
  )
  return { ...saga, branches }
}

function isMarked(transaction: Transaction): boolean {
  return transaction.kind === 'saga' && transaction.noReturnAt !== undefined
}

export function withoutMark(transaction: Transaction): Transaction {
  if (transaction.kind !== 'saga') return transaction
  const { noReturnAt: _, ...rest } = transaction
  return rest
}
