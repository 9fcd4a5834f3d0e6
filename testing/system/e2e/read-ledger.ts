import { DatabaseSync } from 'node:sqlite'

const BUSY_MS_MAX = 5_000

export interface Effect {
  readonly gid: string
  readonly branchId: string
  readonly op: string
}

/** Reads the databases themselves: an auditor that asks the suspect proves nothing. */
export function readEffects(bankFile: string): readonly Effect[] {
  return read(bankFile, 'SELECT gid, branch_id AS branchId, op FROM ledger ORDER BY seq')
}

/** Calls of one (gid, branch, op) beyond the first. */
export function repeatedCalls(bankFile: string): number {
  const [row] = read<{ n: number }>(
    bankFile,
    'SELECT coalesce(sum(n - 1), 0) AS n FROM (SELECT count(*) AS n FROM call_log GROUP BY gid, branch_id, op)',
  )
  return row?.n ?? 0
}

/** Compensations that arrived from a runner that had taken the transaction over. */
export function compensationsAfterRestart(bankFile: string): number {
  const [row] = read<{ n: number }>(
    bankFile,
    "SELECT count(*) AS n FROM call_log WHERE op = 'compensate' AND epoch > 1 AND status_code = 200",
  )
  return row?.n ?? 0
}

export function unfinishedRows(storeFile: string): number {
  const [row] = read<{ n: number }>(storeFile, 'SELECT count(*) AS n FROM transactions WHERE live = 1')
  return row?.n ?? 0
}

function read<T = Effect>(file: string, sql: string): T[] {
  const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS_MAX })
  try {
    return database.prepare(sql).all() as unknown as T[]
  } finally {
    database.close()
  }
}
