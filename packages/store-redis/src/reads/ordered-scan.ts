import type { ListCursor, ListOrder, ListQuery } from '@counterstep/core'
import { decodeScored } from '../shards/decode-answers.ts'
import type { ScriptCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { decodeTagMember, toTagRange } from './tag-members.ts'

const PAGE_FIRST_ROWS = 8
const PAGE_MAX_ROWS = 512

interface Places extends Pick<ListQuery, 'order' | 'cursor' | 'createdFrom' | 'createdTo'> {
  /** Only rows with this tag are in the list, which is in the order of the accepts. */
  readonly tag?: string
}

/**
 * Merges an index of all shards into one list by (instant, gid), strictly after the query's cursor: the created rows with
 * the newest first, or those of them with a tag, or the live rows by their due instants.
 */
export class OrderedScan {
  readonly #shards: readonly ShardScan[]
  readonly #isAfter: IsAfter

  constructor(calls: ShardCalls, query: Places) {
    this.#isAfter = IS_AFTER[query.order ?? 'created']
    this.#shards = calls.shards.all.map((shard) => new ShardScan(calls, shard, query))
  }

  /** Returns at most `rowsMax` further rows. Fewer means that there are no more. */
  async next(rowsMax: number): Promise<readonly ListCursor[]> {
    const rows: ListCursor[] = []
    while (rows.length < rowsMax) {
      // A shard whose page is empty may hold the next row, so all pages are filled before a row is taken. A new page may
      // also bring no further row.
      while (this.#shards.some((shard) => shard.isDry)) {
        await Promise.all(this.#shards.filter((shard) => shard.isLow).map((shard) => shard.fill()))
      }
      const first = this.#findFirst()
      if (first === undefined) return rows
      rows.push(first.take())
    }
    return rows
  }

  #findFirst(): ShardScan | undefined {
    let first: ShardScan | undefined
    for (const shard of this.#shards) {
      if (shard.head === undefined) continue
      if (first?.head === undefined || this.#isAfter(first.head, shard.head)) first = shard
    }
    return first
  }
}

type IsAfter = (row: ListCursor, than: ListCursor) => boolean

const IS_AFTER: Readonly<Record<ListOrder, IsAfter>> = {
  created: isBelow,
  due: (row, than) => isBelow(than, row),
  'due-last': isBelow,
}

class ShardScan {
  readonly #calls: ShardCalls
  readonly #shard: number
  readonly #order: ListOrder
  readonly #tag: string | undefined
  readonly #isAfter: IsAfter
  /** The last instant of the range. */
  readonly #end: number
  #last: ListCursor
  #page: readonly ListCursor[] = []
  #at = 0
  #pageRows = PAGE_FIRST_ROWS
  #isExhausted = false

  constructor(
    calls: ShardCalls,
    shard: number,
    { order = 'created', cursor, createdFrom, createdTo, tag }: Places,
  ) {
    this.#tag = tag
    this.#calls = calls
    this.#shard = shard
    this.#order = order
    this.#isAfter = IS_AFTER[order]
    const isCreated = order === 'created'
    this.#end = order === 'due' ? Number.MAX_SAFE_INTEGER : isCreated ? (createdFrom ?? 0) : 0
    // No gid is below '', so this is the pair below which everything before `createdTo` stands.
    const top = (isCreated ? createdTo : undefined) ?? Number.MAX_SAFE_INTEGER
    const start = { at: order === 'due' ? 0 : top, gid: '' as ListCursor['gid'] }
    this.#last = cursor === undefined || this.#isAfter(start, cursor) ? start : cursor
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
    const last = kept.at(-1) ?? this.#last
    const found = await this.#read(last)
    this.#isExhausted = found.length < this.#pageRows
    this.#page = [...kept, ...found]
    this.#at = 0
    this.#last = this.#page.at(-1) ?? last
    this.#pageRows = Math.min(this.#pageRows * 2, PAGE_MAX_ROWS)
  }

  async #read(last: ListCursor): Promise<readonly ListCursor[]> {
    if (this.#tag === undefined) {
      const answer = await this.#calls.script(this.#shard, 'readPage', this.#toCall(last))
      return decodeScored(answer)
        .map(([gid, at]) => ({ at, gid }))
        .filter(({ at }) => this.#isInRange(at))
    }
    const range = toTagRange(this.#tag, last, this.#end)
    const key = this.#calls.keys(this.#shard).tags
    const limit = ['LIMIT', 0, this.#pageRows] as const
    const answer = await this.#calls.command(this.#shard, 'zrange', [key, ...range, ...limit])
    return (answer as readonly string[]).map(decodeTagMember)
  }

  #toCall({ at, gid }: ListCursor): ScriptCall {
    const { due, created } = this.#calls.keys(this.#shard)
    const direction = this.#order === 'due' ? 'up' : 'down'
    return {
      keys: [this.#order === 'created' ? created : due],
      args: [String(at), gid, direction, String(this.#pageRows)],
    }
  }

  #isInRange(at: number): boolean {
    return this.#order === 'due' ? at <= this.#end : at >= this.#end
  }
}

/** A gid is ASCII, so comparing code units compares bytes, as Redis does among equal scores. */
function isBelow(row: ListCursor, than: ListCursor): boolean {
  return row.at === than.at ? row.gid < than.gid : row.at < than.at
}
