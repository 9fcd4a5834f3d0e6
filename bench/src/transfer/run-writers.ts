import { newGid } from '@counterstep/sdk'
import type { Pool } from 'mysql2/promise'
import type { LatencyMs, TimedLength } from '../load/load-job.ts'
import { MeasuredPart } from '../load/measured-part.ts'
import { toTables } from './bank-tables.ts'
import { book } from './book.ts'
import { inTransaction } from './in-transaction.ts'

/** Sysbench has as many threads. */
export const WRITERS = 10
/** The pairs of an insert and an update in one transaction: six writes. */
export const PAIRS = 3

export interface WritersJob {
  readonly accounts: number
  readonly length: TimedLength
}

export interface WritersResult {
  readonly transactions: number
  readonly perSecond: number
  readonly latencyMs: LatencyMs
}

/** So many at once, each one database transaction after the other. None is cut at the end. */
export async function runWriters(pool: Pool, { accounts, length }: WritersJob): Promise<WritersResult> {
  const tables = toTables('writes')
  const startedAt = performance.now()
  const endAt = startedAt + (length.warmUpSeconds + length.seconds) * 1000
  const measured = new MeasuredPart(length, startedAt)
  let transactions = 0
  const write = async (): Promise<void> => {
    while (performance.now() < endAt) {
      const beganAt = performance.now()
      const account = 1 + (transactions % accounts)
      transactions += 1
      const booking = { account, cents: 1, gid: newGid(), branchId: '01' }
      await inTransaction(pool, (tx) => book(tx, tables, PAIRS, booking))
      const endedAt = performance.now()
      measured.answered(endedAt, endedAt - beganAt)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  const { answersPerSecond, latencyMs } = measured.result()
  return { transactions, perSecond: answersPerSecond, latencyMs }
}
