import type {
  DueClaim,
  Lease,
  NewTransaction,
  SingleClaim,
  TransactionUpdate,
  UpdateHold,
} from '@counterstep/core'
import { HOLD, WRITE } from './messages.ts'
import { KIND_CODES, SENT_LIST_CODES, STATUS_CODES } from './row-codes.ts'

export function pushCreate(cells: unknown[], transaction: NewTransaction): void {
  const { hold } = transaction
  cells.push(
    WRITE.create,
    transaction.gid,
    KIND_CODES[transaction.kind],
    STATUS_CODES[transaction.status],
    transaction.format,
    transaction.digest,
    transaction.definition,
    transaction.progress,
    transaction.token,
    transaction.writeId,
    hold.type === 'owned' ? 1 : 0,
    SENT_LIST_CODES[transaction.sentList],
    hold.type === 'owned' ? hold.leaseMs : hold.dueInMs,
  )
}

export function pushUpdate(cells: unknown[], update: TransactionUpdate): void {
  cells.push(
    WRITE.update,
    HOLD[update.hold.type],
    dueOf(update.hold),
    update.writeId,
    STATUS_CODES[update.status],
    update.format,
    update.progress,
    update.retrying ? 1 : 0,
    update.attention ? 1 : 0,
    update.sentList === undefined ? null : SENT_LIST_CODES[update.sentList],
    update.gid,
    update.token,
    update.version,
  )
}

function dueOf(hold: UpdateHold): number | null {
  switch (hold.type) {
    case 'keep':
      return null
    case 'release':
      return hold.dueAt
    case 'finish':
      return hold.retentionMs === 'never' ? null : hold.retentionMs
    case 'command':
      return hold.dueAt ?? null
  }
}

export interface Renewal {
  readonly leases: readonly Lease[]
  readonly leaseMs: number
}

export function pushRenew(cells: unknown[], { leases, leaseMs }: Renewal): void {
  cells.push(WRITE.renew, leaseMs, leases.length * 2)
  for (const { gid, token } of leases) cells.push(gid, token)
}

export function pushClaimDue(cells: unknown[], { formatMax, leaseMs, limit, tokens }: DueClaim): void {
  cells.push(WRITE.claimDue, formatMax, leaseMs, limit, ...tokens.slice(0, limit))
}

export function pushClaim(cells: unknown[], { gid, token, formatMax, leaseMs }: SingleClaim): void {
  cells.push(WRITE.claim, gid, token, formatMax, leaseMs)
}

export function pushPurge(cells: unknown[], limit: number): void {
  cells.push(WRITE.purge, limit)
}

/** UTF-16 units: near enough for a bound, and free. A value of the wrong type fails later, alone, in the worker. */
export function bytesOf(text: string): number {
  return typeof text === 'string' ? text.length : 0
}
