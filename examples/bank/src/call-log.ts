import type { DatabaseSync } from 'node:sqlite'
import type { Branch } from '@counterstep/sdk'

export interface CallLog {
  /** One arrival and its answer, kept whatever became of the effect. */
  record(branch: Branch, statusCode: number, code?: string): void
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS call_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    gid TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    op TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status_code INTEGER NOT NULL,
    code TEXT
  ) STRICT`

/** Who called what, as the branch saw it: the evidence that an audit compares with the orchestrator's own account. */
export function openCallLog(database: DatabaseSync, now: () => number): CallLog {
  database.exec(SCHEMA)
  const insert = database.prepare(
    `INSERT INTO call_log (gid, branch_id, op, attempt, epoch, at, status_code, code)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return {
    record: ({ gid, branchId, op, attempt, epoch }, statusCode, code) => {
      insert.run(gid, branchId, op, attempt, epoch, now(), statusCode, code ?? null)
    },
  }
}
