/**
 * Someone gave a command under our token: the row has it, we have branch results that the row has not.
 * The first durable write wins, so the command counts, and our results are facts that stay.
 */
import { AssertionError } from './errors.ts'
import { decodeTransaction } from './record.ts'
import type { Run } from './run.ts'
import type { StoredTransaction } from './store.ts'
import { isFinal, type Transaction } from './transaction.ts'

/** Undefined: it is not ours any more. */
export function learn(run: Run, row: StoredTransaction | undefined, now: number): Run | undefined {
  if (row === undefined || row.token !== run.token) return undefined
  const known = { ...run, version: row.version, durableStatus: row.status }
  const stored = decodeTransaction(row)
  if (isFinal(stored)) return { ...known, transaction: stored, durable: run.changed }
  const merged = merge(run.transaction, stored)
  const changed = run.changed + 1
  // Strong: one more save, so that the row has our results before anything else is done on top of the command.
  return { ...known, transaction: merged, changed, gate: changed, dirtySince: run.dirtySince ?? now }
}

function merge(ours: Transaction, stored: Transaction): Transaction {
  if (stored.status === 'aborting') {
    const { attention: _, ...facts } = ours
    if (ours.status === 'aborting')
      return { ...ours, abort: widest(ours, stored), sentUnknown: true, nudges: stored.nudges }
    return {
      ...withoutEnd(facts),
      status: 'aborting',
      abort: stored.abort,
      sentUnknown: true,
      nudges: stored.nudges,
      updatedAt: stored.updatedAt,
    }
  }
  if (stored.status !== 'submitted') throw new AssertionError(`cannot merge status ${stored.status}`)
  if (stored.nudges === ours.nudges || isFinal(ours)) return ours
  return { ...ours, nudges: stored.nudges, branches: ours.branches.map(dueAtOnce) }
}

function widest(
  ours: Extract<Transaction, { status: 'aborting' }>,
  stored: Extract<Transaction, { status: 'aborting' }>,
) {
  const branches = [...new Set([...ours.abort.branches, ...stored.abort.branches])].sort((a, b) => a - b)
  return { ...stored.abort, branches }
}

type Facts = Omit<Extract<Transaction, { status: 'submitted' }>, 'status'>

function withoutEnd(transaction: object): Facts {
  const {
    finishedAt: _finishedAt,
    abort: _abort,
    status: _status,
    ...facts
  } = transaction as Facts & {
    finishedAt?: number
    abort?: unknown
    status?: unknown
  }
  return facts
}

function dueAtOnce(progress: Transaction['branches'][number]): Transaction['branches'][number] {
  const due = (op: typeof progress.action) => (op.state === 'waiting' ? { ...op, nextAt: 0 } : op)
  return { action: due(progress.action), compensate: due(progress.compensate) }
}
