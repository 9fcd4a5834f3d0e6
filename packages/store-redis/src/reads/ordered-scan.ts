import type { ListCursor, ListQuery } from '@counterstep/core'
import { decodeScored } from '../shards/decode-answers.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

const PAGE_FIRST_ROWS = 8
const PAGE_MAX_ROWS = 512

/**
 * Merges the created rows of all shards into one list, newest first by (createdAt, gid), strictly older than the
 * query's cursor.
 */
export class CreatedScan {
  readonly #shards: readonly ShardScan[]

  constructor(calls: ShardCalls, query: ListQuery) {
    this.#shards = calls.shards.all.map((shard) => new ShardScan(calls, shard, query))
  }

  /** Returns at most `rowsMax` further rows. Fewer means that there are no more. */
  async next(rowsMax: number): Promise<readonly ListCursor[]> {
    const rows: ListCursor[] = []
    while (rows.length < rowsMax) {
      // A shard whose page is empty may hold the next row, so all pages are filled before a row is taken. A new page may
      // also bring no older row.
      while (this.#shards.some((shard) => shard.isDry)) {
        await Promise.all(this.#shards.filter((shard) => shard.isLow).map((shard) => shard.fill()))
      }
      const newest = this.#newest()
      if (newest === undefined) return rows
      rows.push(newest.take())
    }
    return rows
  }

  #newest(): ShardScan | undefined {
    let newest: ShardScan | undefined
    for (const shard of this.#shards) {
      if (shard.head === undefined) continue
      if (newest?.head === undefined || isOlder(newest.head, shard.head)) newest = shard
    }
    return newest
  }
}

class ShardScan {
  readonly #calls: ShardCalls
  readonly #shard: number
  readonly #from: number
  #below: ListCursor
  #page: readonly ListCursor[] = []
  #at = 0
  #pageRows = PAGE_FIRST_ROWS
  #isExhausted = false

  constructor(calls: ShardCalls, shard: number, { cursor, createdFrom, createdTo }: ListQuery) {
    this.#calls = calls
    this.#shard = shard
    this.#from = createdFrom ?? 0
    // No gid is below '', so this is the pair below which everything before `createdTo` stands.
    const end = { at: createdTo ?? Number.MAX_SAFE_INTEGER, gid: '' as ListCursor['gid'] }
    this.#below = cursor === undefined || isOlder(end, cursor) ? end : cursor
  }

  get head(): ListCursor | undefined {
    return this.#page[this.#at]
  }

  get isDry(): boolean {
    return this.head === undefined && !this.#isExhausted
  }

  get isLow(): boolean {
    return !this.#isExhausted && this.#page.length - this.#at < this.#pageRows / 4
  }

  take(): ListCursor {
    const { head } = this
    if (head === undefined) throw new RangeError('nothing to take')
    this.#at += 1
    return head
  }

  async fill(): Promise<void> {
    const kept = this.#page.slice(this.#at)
    const below = kept.at(-1) ?? this.#below
    const answer = await this.#calls.command(this.#shard, 'zrange', [
      ...[this.#calls.keys(this.#shard).created, below.at, this.#from, 'BYSCORE', 'REV'],
      ...['LIMIT', 0, this.#pageRows, 'WITHSCORES'],
    ])
    const found = decodeScored(answer).map(([gid, at]) => ({ at, gid }))
    // The range ends at a timestamp, so the newer gids of that timestamp come again.
    const older = found.filter((row) => isOlder(row, below))
    this.#isExhausted = found.length < this.#pageRows
    this.#page = [...kept, ...older]
    this.#at = 0
    this.#below = this.#page.at(-1) ?? below
    // If the rows of one timestamp fill a page, the next page is larger and reaches further.
    this.#pageRows = older.length === 0 ? this.#pageRows * 2 : Math.min(this.#pageRows * 2, PAGE_MAX_ROWS)
  }
}

/** A gid is ASCII, so comparing code units compares bytes, as Redis does among equal scores. */
function isOlder(row: ListCursor, than: ListCursor): boolean {
  return row.at === than.at ? row.gid < than.gid : row.at < than.at
}
