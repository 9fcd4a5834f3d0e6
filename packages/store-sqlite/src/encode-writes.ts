import {
  CLAIM_BYTES_MAX,
  type DocumentRemoval,
  type DocumentWrite,
  type DueClaim,
  type DuePostponement,
  encodeTags,
  KIND_CODES,
  type Lease,
  type NewTransaction,
  SENT_LIST_CODES,
  type SingleClaim,
  STATUS_CODES,
  type TransactionUpdate,
  textToColumn,
  toDueColumn,
  toMarkBits,
} from '@counterstep/core'
import type {
  ClaimDueWrite,
  ClaimWrite,
  CreateWrite,
  PostponeDueWrite,
  RemoveDocumentWrite,
  RenewWrite,
  UpdateWrite,
  WriteDocumentWrite,
} from './messages.ts'

/** The share of a definition's bytes that its branches' progress has at the end, approximately. */
const ROOM_SHARE = 0.6
const ROOM_BYTES_MAX = 1024
/** The row of a longer definition with its room would not fit a page of 4 KiB, and the rest would be moved twice. */
const ROOMED_BYTES_MAX = 2600

export function encodeCreate(transaction: NewTransaction): CreateWrite {
  const { hold } = transaction
  return [
    'create',
    hold.type === 'owned' ? hold.leaseMs : hold.dueInMs,
    countRoomBytes(transaction.definition),
    transaction.gid,
    KIND_CODES[transaction.kind],
    STATUS_CODES[transaction.status],
    transaction.format,
    transaction.digest,
    textToColumn(transaction.definition),
    textToColumn(transaction.progress),
    transaction.token,
    transaction.writeId,
    hold.type === 'owned' ? 1 : 0,
    SENT_LIST_CODES[transaction.sentList],
    transaction.name ?? null,
    encodeTags(transaction.tags),
  ]
}

function countRoomBytes(definition: string): number {
  const bytes = countBytes(definition)
  return bytes > ROOMED_BYTES_MAX ? 0 : Math.min(Math.floor(bytes * ROOM_SHARE), ROOM_BYTES_MAX)
}

export function encodeUpdate(update: TransactionUpdate): UpdateWrite {
  return [
    'update',
    update.hold.type,
    toDueColumn(update.hold),
    update.gid,
    update.token,
    update.version,
    update.writeId,
    STATUS_CODES[update.status],
    update.format,
    textToColumn(update.progress),
    update.retrying ? 1 : 0,
    update.attention ? 1 : 0,
    update.sentList === undefined ? null : SENT_LIST_CODES[update.sentList],
    update.problem ?? null,
    update.attempts ?? 0,
    toMarkBits(update.marks),
  ]
}

export function encodeRenew(leases: readonly Lease[], leaseMs: number): RenewWrite {
  return ['renew', leaseMs, ...leases.flatMap(({ gid, token }) => [gid, token])]
}

export function encodeClaimDue({ formatMax, leaseMs, limit, tokens }: DueClaim): ClaimDueWrite {
  return ['claimDue', formatMax, leaseMs, CLAIM_BYTES_MAX, ...tokens.slice(0, limit)]
}

export function encodeClaim({ gid, token, formatMax, leaseMs }: SingleClaim): ClaimWrite {
  return ['claim', gid, token, formatMax, leaseMs]
}

export function encodePostponeDue({ formatMax, byMs, limit }: DuePostponement): PostponeDueWrite {
  return ['postponeDue', formatMax, byMs, limit]
}

export function encodeWriteDocument(write: DocumentWrite): WriteDocumentWrite {
  const { category, key, text, expectedVersion, writeId } = write
  return ['writeDocument', category, key, textToColumn(text), expectedVersion, writeId]
}

export function encodeRemoveDocument(removal: DocumentRemoval): RemoveDocumentWrite {
  return ['removeDocument', removal.category, removal.key, removal.expectedVersion]
}

/**
 * Counts UTF-16 units, which are close enough for a bound and cost nothing. A value of the wrong type is refused
 * later, alone.
 */
export function countBytes(text: string): number {
  return typeof text === 'string' ? text.length : 0
}
