import type { DatabaseSync } from 'node:sqlite'
import {
  ALREADY_COMPENSATED,
  type BarrierRow,
  barrierRows,
  decideBarrier,
  originOf,
} from '@counterstep/barrier'
import type { BranchId, Gid, Op } from '@counterstep/protocol'
import { type BankAnswer, BusinessFailure, failure, success } from './bank-answer.ts'
import { inTransaction } from './in-transaction.ts'

/** The one key of a branch's call. */
export interface BarrierCall {
  readonly gid: Gid
  readonly branchId: BranchId
  readonly op: Op
}

/** Runs `effect` at most once per gid, branch and op, and never after its compensation. */
export type SqliteBarrier = (call: BarrierCall, effect: () => BankAnswer) => BankAnswer

// The key is the only index, and its order is the order of all inserts. `answer` stays null in the row that a null
// compensation inserts for the action it blocks.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS barrier (
    gid TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    op TEXT NOT NULL,
    reason TEXT NOT NULL,
    status_code INTEGER,
    answer TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (gid, branch_id, op)
  ) STRICT, WITHOUT ROWID`

/**
 * The barrier over node:sqlite. It only inserts, reads and stores; what that means is decided in
 * @counterstep/barrier. Everything is one database transaction that takes the write lock at its start (BEGIN
 * IMMEDIATE), so that two calls of one branch come one after the other; inside a caller's transaction it is a
 * savepoint of it. Whatever the effect throws rolls its rows back too: they stand only beside the effect.
 */
export function sqliteBarrier(database: DatabaseSync, now: () => number): SqliteBarrier {
  database.exec(SCHEMA)
  const rows = barrierStatements(database)

  const pass = (call: BarrierCall, effect: () => BankAnswer): BankAnswer => {
    const { gid, branchId, op } = call
    const inserted = new Set<Op>()
    for (const row of barrierRows(op)) {
      if (rows.insert(gid, branchId, row.op, row.reason, now())) inserted.add(row.op)
    }
    const origin = originOf(op)
    const decision = inserted.has(op)
      ? decideBarrier(op, { ownInserted: true, originInserted: origin !== undefined && inserted.has(origin) })
      : decideBarrier(op, { ownInserted: false, standing: rows.standing(gid, branchId) })
    switch (decision) {
      case 'already-compensated':
        return failure(ALREADY_COMPENSATED, 'this action came after its compensation')
      case 'duplicate':
        return rows.answer(gid, branchId, op) ?? success({ duplicate: true })
      case 'null-compensation':
      case 'run': {
        const answer = decision === 'run' ? effect() : success({ nullCompensation: true })
        if (answer.statusCode !== 200) throw new TypeError('only success is stored: throw BusinessFailure')
        rows.store(gid, branchId, op, answer)
        return answer
      }
    }
  }

  return (call, effect) => {
    try {
      return inTransaction(database, () => pass(call, effect))
    } catch (error: unknown) {
      if (error instanceof BusinessFailure) return failure(error.code, error.message)
      throw error
    }
  }
}

interface BarrierStatements {
  insert(gid: Gid, branchId: BranchId, op: Op, reason: string, at: number): boolean
  standing(gid: Gid, branchId: BranchId): BarrierRow[]
  answer(gid: Gid, branchId: BranchId, op: Op): BankAnswer | undefined
  store(gid: Gid, branchId: BranchId, op: Op, answer: BankAnswer): void
}

function barrierStatements(database: DatabaseSync): BarrierStatements {
  const insert = database.prepare(
    `INSERT INTO barrier (gid, branch_id, op, reason, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (gid, branch_id, op) DO NOTHING`,
  )
  const standing = database.prepare('SELECT op, reason FROM barrier WHERE gid = ? AND branch_id = ?')
  const answer = database.prepare(
    `SELECT status_code AS statusCode, answer AS body FROM barrier
     WHERE gid = ? AND branch_id = ? AND op = ? AND answer IS NOT NULL`,
  )
  const store = database.prepare(
    'UPDATE barrier SET status_code = ?, answer = ? WHERE gid = ? AND branch_id = ? AND op = ?',
  )
  return {
    insert: (gid, branchId, op, reason, at) => insert.run(gid, branchId, op, reason, at).changes === 1,
    standing: (gid, branchId) => standing.all(gid, branchId) as unknown as BarrierRow[],
    answer: (gid, branchId, op) => answer.get(gid, branchId, op) as BankAnswer | undefined,
    store: (gid, branchId, op, { statusCode, body }) => {
      store.run(statusCode, body, gid, branchId, op)
    },
  }
}
