import { isFinalStatus } from '@counterstep/protocol'
import type { RowHead } from '../shards/row-text.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { OrderedScan } from './ordered-scan.ts'
import { readHeads } from './read-heads.ts'
import { decodeWaiting } from './waiting-member.ts'

/** A row that was never saved is owned or was owned, so it is among those that are due first. */
const DUE_ROWS = 500
const MEMBERS_AT_ONCE = 50
const PAGES_MAX = 20

/**
 * Finds the accept of the oldest live row that is not paused. The rows that were saved once stand in the order of their
 * accepts in the index `waiting`. The others are younger, or are due soon.
 */
export async function findOldestUnfinished(calls: ShardCalls): Promise<number | undefined> {
  const [due, ...saved] = await Promise.all([
    findOldestDue(calls),
    ...calls.shards.all.map((shard) => findOldestSaved(calls, shard)),
  ])
  const oldest = Math.min(due, ...saved)
  return Number.isFinite(oldest) ? oldest : undefined
}

async function findOldestDue(calls: ShardCalls): Promise<number> {
  const rows = await new OrderedScan(calls, { order: 'due' }).next(DUE_ROWS)
  const heads = await readHeads(calls, rows)
  return Math.min(...[...heads.values()].filter(isOpen).map(({ createdAt }) => createdAt))
}

/** Walks past rows that older code has finished. Their members are still there, and are removed. */
async function findOldestSaved(calls: ShardCalls, shard: number): Promise<number> {
  const key = calls.keys(shard).waiting
  let kept = 0
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await calls.command(shard, 'zrange', [
      ...[key, '[ ', '(!', 'BYLEX', 'LIMIT', kept, MEMBERS_AT_ONCE],
    ])
    const members = (answer as readonly string[]).map((member) => ({ member, ...decodeWaiting(member) }))
    const heads = await readHeads(calls, members)
    const open = members.find((row) => isSame(heads.get(row.gid), row) && isOpen(heads.get(row.gid)))
    if (open !== undefined) return open.createdAt
    // A row that is gone or final stays so. A gid that is used again has another accept, and so another member.
    const over = members.filter((row) => !isSame(heads.get(row.gid), row) || isOver(heads.get(row.gid)))
    if (over.length > 0) await calls.command(shard, 'zrem', [key, ...over.map(({ member }) => member)])
    if (members.length < MEMBERS_AT_ONCE) break
    kept += members.length - over.length
  }
  return Number.POSITIVE_INFINITY
}

function isSame(head: RowHead | undefined, { createdAt }: { readonly createdAt: number }): boolean {
  return head?.createdAt === createdAt
}

function isOver(head: RowHead | undefined): boolean {
  return head !== undefined && isFinalStatus(head.status)
}

function isOpen(head: RowHead | undefined): boolean {
  return head !== undefined && !isOver(head) && head.marks?.includes('paused') !== true
}
