import { countBytes } from '../values/count-bytes.ts'
import { CLAIM_BYTES_MAX, type DueClaimResult, type StoredTransaction } from './store.ts'

/**
 * Builds the result of a claim that has brought these rows. A claim whose rows have `CLAIM_BYTES_MAX` has ended there, so more may be
 * due. Texts may be shorter here than in their columns, so half of it counts as all.
 */
export function buildDueClaimResult(now: number, claimed: readonly StoredTransaction[]): DueClaimResult {
  const bytes = claimed.reduce((sum, row) => sum + countBytes(row.definition) + countBytes(row.progress), 0)
  return { now, claimed, ...(bytes * 2 >= CLAIM_BYTES_MAX ? { mayBeMore: true } : {}) }
}
