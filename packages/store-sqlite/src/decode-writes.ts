import {
  assert,
  buildDueClaimResult,
  type CreateResult,
  type DocumentRemovalResult,
  type DocumentWriteResult,
  type DueClaimResult,
  type DuePostponementResult,
  type Lease,
  type RenewResult,
  type SingleClaimResult,
  type StoredTransaction,
  toStatus,
  type UpdateResult,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Cell, Row } from './driver.ts'
import type { WriteResult } from './messages.ts'
import { toStoredTransaction } from './stored-row.ts'

/** The result is 0 for a new row, the time of creation if the same create was sent before, or the row that exists. */
export function decodeCreate(result: WriteResult, now: number): CreateResult {
  if (typeof result === 'number') return { type: 'created', createdAt: result === 0 ? now : result, now }
  const [digest, code] = result as Row
  const status = toStatus(code)
  assert(status !== undefined, 'what exists has a status of a later version')
  return { type: 'exists', digest: digest as string, status, now }
}

/**
 * The result is 0 if the row was saved now, a positive version if the same write was saved before, or a negative
 * version if the row has that version and so conflicts.
 */
export function decodeUpdate(result: WriteResult, now: number, version: number): UpdateResult {
  if (result === 'fenced' || result === 'absent') return { type: result }
  const answer = Number(result)
  if (answer < 0) return { type: 'conflict', version: -answer }
  return { type: 'saved', version: answer === 0 ? version + 1 : answer, now }
}

export function decodeRenew(result: WriteResult, now: number, leases: readonly Lease[]): RenewResult {
  const versions = result as Row
  const renewed: { gid: Gid; version: number }[] = []
  const lost: Gid[] = []
  leases.forEach(({ gid }, i) => {
    const version = Number(versions[i])
    if (version === 0) lost.push(gid)
    else renewed.push({ gid, version })
  })
  return { now, renewed, lost }
}

export function decodeClaimDue(result: WriteResult, now: number): DueClaimResult {
  return buildDueClaimResult(now, (result as readonly Row[]).map(toClaimedTransaction))
}

export function decodeClaim(result: WriteResult, now: number): SingleClaimResult {
  if (typeof result === 'string') {
    return { type: 'refused', reason: result as (SingleClaimResult & { type: 'refused' })['reason'] }
  }
  const [row] = result as readonly Row[]
  if (row === undefined) return { type: 'refused', reason: 'absent' }
  return { type: 'claimed', transaction: toClaimedTransaction(row), now }
}

function toClaimedTransaction(row: Row): StoredTransaction {
  const transaction = toStoredTransaction(row)
  assert(transaction !== undefined, 'a claim of a row with unknown codes')
  return transaction
}

export function decodePostponeDue(result: WriteResult, now: number): DuePostponementResult {
  return { now, gids: result as readonly Cell[] as readonly Gid[] }
}

export function decodePurge(result: WriteResult): { readonly purged: number } {
  return { purged: Number(result) }
}

export function decodeWriteDocument(result: WriteResult): DocumentWriteResult {
  const [type, version] = result as readonly [DocumentWriteResult['type'], number]
  return type === 'full' ? { type } : { type, version }
}

export function decodeRemoveDocument(result: WriteResult): DocumentRemovalResult {
  const [type, version] = result as readonly [DocumentRemovalResult['type'], number]
  return type === 'conflict' ? { type, version } : { type }
}
