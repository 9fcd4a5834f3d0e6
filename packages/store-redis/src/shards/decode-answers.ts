import {
  AssertionError,
  type CreateResult,
  type Lease,
  type SingleClaimResult,
  type StoredTransaction,
  toStatus,
  type UpdateResult,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { type RowHead, readHead, toStoredTransaction, toTransaction } from './row-text.ts'

/** Decodes a line of write-rows.lua. */
export function decodeCreate(gid: Gid, answer: string): CreateResult {
  const [type, first = '', second, third] = answer.split(' ')
  if (type === 'created') return { type, createdAt: Number(first), now: Number(second) }
  const status = toStatus(second)
  if (type === 'exists' && status !== undefined) return { type, digest: first, status, now: Number(third) }
  throw new AssertionError(`the row of ${gid} cannot be read by this version`)
}

/** Decodes a line of write-rows.lua. */
export function decodeUpdate(answer: string): UpdateResult {
  const [type, version, now] = answer.split(' ') as [
    'absent' | 'fenced' | 'saved' | 'conflict',
    string,
    string,
  ]
  switch (type) {
    case 'saved':
      return { type, version: Number(version), now: Number(now) }
    case 'conflict':
      return { type, version: Number(version) }
    default:
      return { type }
  }
}

type Refusal = (SingleClaimResult & { readonly type: 'refused' })['reason']

export function decodeClaim(gid: Gid, answer: unknown): SingleClaimResult {
  const [type, text, definition, dueAt, now] = answer as readonly [string, string, string, string, number]
  if (type !== 'claimed') return { type: 'refused', reason: type as Refusal }
  return { type, transaction: toStoredTransaction(gid, text, definition, dueAt), now }
}

/**
 * Returns for each candidate the claimed row, `gone` if it is no longer due, or `unknown` if this version may not
 * take it. An `unreadable` row is claimed too, but cannot be used until its lease ends.
 */
export function decodeClaimDue(
  candidates: readonly Lease[],
  answer: unknown,
): {
  readonly now: number
  readonly rows: readonly (StoredTransaction | 'gone' | 'unknown' | 'unreadable')[]
} {
  const [now, leaseEnd, ...texts] = answer as readonly [number, string, ...string[]]
  const rows = candidates.map(({ gid }, i) => {
    const text = texts[i * 2] ?? ''
    if (text === '') return 'gone'
    if (text === '!') return 'unknown'
    const head = readHead(text, leaseEnd)
    return head === undefined ? 'unreadable' : toTransaction(gid, head, text, texts[i * 2 + 1] ?? '')
  })
  return { now, rows }
}

const POSTPONED = { '1': 'moved', '': 'gone', '+': 'left', '!': 'unknown' } as const
export type PostponeOutcome = (typeof POSTPONED)[keyof typeof POSTPONED]

/**
 * Returns the outcome of each candidate: `gone` if it is no longer due, `left` for the next call, or `unknown` if this
 * version may not take it.
 */
export function decodePostponeDue(answer: unknown): {
  readonly now: number
  readonly rows: readonly PostponeOutcome[]
} {
  const [now, ...marks] = answer as readonly [number, ...(keyof typeof POSTPONED)[]]
  return { now, rows: marks.map((mark) => POSTPONED[mark]) }
}

/** Returns the rows that exist, with undefined for one that this version cannot read. */
export function decodeRead(
  gids: readonly Gid[],
  answer: unknown,
): readonly (StoredTransaction | undefined)[] {
  const values = answer as readonly (string | null)[]
  return gids.flatMap((gid, i) => {
    const [text, definition, dueAt] = values.slice(i * 3, i * 3 + 3)
    if (typeof text !== 'string') return []
    if (typeof definition !== 'string') throw new AssertionError(`the row of ${gid} has no definition`)
    const head = readHead(text, dueAt ?? null)
    return [head && toTransaction(gid, head, text, definition)]
  })
}

/** Returns undefined for a row that has expired, or that this version cannot read. */
export function decodeHeads(gids: readonly Gid[], answer: unknown): readonly (RowHead | undefined)[] {
  const values = answer as readonly (string | null)[]
  return gids.map((_, i) => readHead(values[i * 2] ?? '', values[i * 2 + 1] ?? null))
}

export function decodeRenew(
  leases: readonly Lease[],
  answer: unknown,
): { readonly now: number; readonly versions: readonly (readonly [Gid, number | undefined])[] } {
  const [now, ...versions] = answer as readonly [number, ...string[]]
  return {
    now,
    versions: leases.map(({ gid }, i) => [gid, versions[i] ? Number(versions[i]) : undefined]),
  }
}

/** Decodes the server's TIME to milliseconds, like the scripts do. */
export function decodeTime(answer: unknown): number {
  const [seconds, microseconds] = answer as readonly [string, string]
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
}

/** Decodes the members and scores of a sorted set. */
export function decodeScored(answer: unknown): readonly (readonly [Gid, number])[] {
  const values = answer as readonly string[]
  return Array.from({ length: values.length / 2 }, (_, i) => [
    values[i * 2] as Gid,
    Number(values[i * 2 + 1]),
  ])
}
