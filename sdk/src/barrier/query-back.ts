import {
  computeRowInstants,
  decideQueryBack,
  QUERY_BACK_ROW,
  type RowInstants,
} from '@counterstep/protocol/barrier'
import { type BarrierKey, toBarrierKey } from '../branch/barrier-key.ts'
import { BranchError } from '../branch/branch-errors.ts'
import { type InsertedOps, isUnfinished, type StandingRow } from './decide-call.ts'
import { buildLocalCall, type LocalOutcome, type QueryPreparedOptions } from './message-barrier.ts'
import type { BarrierTable } from './pass-barrier.ts'
import { assertNotExpired } from './retention.ts'

export interface QueryBack extends RowInstants {
  readonly key: BarrierKey
}

export const QUERY_BACK_ROWS = [QUERY_BACK_ROW] as const

/**
 * Checks a query-back before it is run. Throws BARRIER_EXPIRED if the row of a committed transaction may be gone,
 * because a new row would say that it has not committed.
 */
export function toQueryBack(
  gid: string,
  options: QueryPreparedOptions | undefined,
  retentionMs: number,
  now: number,
): QueryBack {
  const call = buildLocalCall(gid, options)
  assertNotExpired(call, retentionMs, now)
  return { key: toBarrierKey(call), ...computeRowInstants(call.acceptedAt, now) }
}

/**
 * Asks in a transaction that the caller commits in any case. The insert waits for a local transaction that is under
 * way.
 */
export async function queryBack(table: BarrierTable, query: QueryBack): Promise<LocalOutcome> {
  const { ops: inserted } = await table.insert(query.key, QUERY_BACK_ROWS, query.at)
  if (isNew(inserted)) return toLocalOutcome(inserted, [], query.since)
  const outcome = toLocalOutcome(inserted, await table.readStanding(query.key), query.since)
  await table.flushStanding?.()
  return outcome
}

/** Tells whether the query-back came first, so that nothing more has to be read. */
export function isNew(inserted: InsertedOps): boolean {
  return inserted.has(QUERY_BACK_ROW.op)
}

export function toLocalOutcome(
  inserted: InsertedOps,
  standing: readonly StandingRow[],
  since: number,
): LocalOutcome {
  const outcome = decideQueryBack(isNew(inserted) ? { inserted: true } : { inserted: false, standing }, since)
  if (outcome === 'unknown') {
    throw new BranchError(
      'BARRIER_CONTENDED',
      'the row of the local transaction is there and is not: ask again',
    )
  }
  const own = standing.find((row) => row.op === QUERY_BACK_ROW.op)
  if (outcome === 'committed' && own !== undefined && isUnfinished(own)) {
    const message =
      'the row of the local transaction was committed without its effect: a person must look into it'
    throw new BranchError('BARRIER_TRANSACTION_LOST', message)
  }
  return outcome
}
