import {
  assert,
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
import { storedTransaction } from './stored-row.ts'

/** 0: created. A number: the creation's instant, when it is sent again. A row: what exists. */
export function decodeCreate(result: WriteResult, now: number): CreateResult {
  if (typeof result === 'number') return { type: 'created', createdAt: result === 0 ? now : result, now }
  const [digest, code] = result as Row
  const status = toStatus(code)
  assert(status !== undefined, 'what exists has a status of a later version')
  return { type: 'exists', digest: digest as string, status, now }
}

/** 0: saved. Above: the version that the same write had made before. Below: the version that stands against it. */
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
  return { now, claimed: (result as readonly Row[]).map(claimedTransaction) }
}

export function decodeClaim(result: WriteResult, now: number): SingleClaimResult {
  if (typeof result === 'string') {
    return { type: 'refused', reason: result as (SingleClaimResult & { type: 'refused' })['reason'] }
  }
  const [row] = result as readonly Row[]
  if (row === undefined) return { type: 'refused', reason: 'absent' }
  return { type: 'claimed', transaction: claimedTransaction(row), now }
}

function claimedTransaction(row: Row): StoredTransaction {
  const transaction = storedTransaction(row)
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
