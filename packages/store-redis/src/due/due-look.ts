import type { Gid } from '@counterstep/protocol'
import { answersOf } from '../shards/by-shard.ts'
import { decodeScored } from '../shards/decode-answers.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

export interface Candidate {
  readonly shard: number
  readonly gid: Gid
  readonly dueAt: number
}

interface DueShard {
  readonly shard: number
  readonly now: number
}

const SHARE_MORE_ROWS = 4

/** Finds the oldest due rows of all shards, behind those at the front of each that nobody here may take. */
export class DueLook {
  /** By the clock of each server, of each look. */
  readonly nows: number[] = []
  /** How many, by shard. */
  readonly passedOver: Map<number, number>
  readonly #calls: ShardCalls
  readonly #leftOut = new Set<number>()

  constructor(calls: ShardCalls, passedOver: ReadonlyMap<number, number>) {
    this.#calls = calls
    this.passedOver = new Map(passedOver)
  }

  passOver(shard: number, count: number): void {
    if (count > 0) this.passedOver.set(shard, this.#from(shard) + count)
  }

  leaveOut(shard: number): void {
    this.#leftOut.add(shard)
  }

  /**
   * At most `rows`, and fewer only if there are no more. Of each shard a little more than its share; then of those
   * whose whole share is among the oldest, as much as all could be.
   */
  async oldest(rows: number): Promise<readonly Candidate[]> {
    const due = await this.#dueShards()
    const share = Math.min(rows, SHARE_MORE_ROWS + Math.ceil((2 * rows) / due.length))
    const pages = await answersOf(due.map((shard) => this.#page(shard, share)))
    const oldest = new Set(firstOf(pages.flat(), rows))
    const isSpent = (page: readonly Candidate[]) =>
      page.length === share && share < rows && page.every((row) => oldest.has(row))
    const spent = new Set(pages.filter(isSpent).map(([row]) => row?.shard))
    const longer = await answersOf(
      due.filter(({ shard }) => spent.has(shard)).map((shard) => this.#page(shard, rows)),
    )
    return firstOf([...pages.filter((page) => !isSpent(page)), ...longer].flat(), rows)
  }

  /** A first glance at the lowest instant of each shard, so that an idle store is asked for little. */
  async #dueShards(): Promise<readonly DueShard[]> {
    const looked = this.#calls.shards.all.filter((shard) => !this.#leftOut.has(shard))
    const [masters, lowest] = await Promise.all([
      this.#calls.times(),
      answersOf(looked.map(async (shard) => [shard, await this.#lowest(shard)] as const)),
    ])
    this.nows.push(...masters.map(({ now }) => now))
    const lowestOf = new Map(lowest)
    return masters.flatMap(({ shards, now }) =>
      shards.flatMap((shard) =>
        (lowestOf.get(shard) ?? Number.POSITIVE_INFINITY) <= now ? [{ shard, now }] : [],
      ),
    )
  }

  async #lowest(shard: number): Promise<number | undefined> {
    const from = this.#from(shard)
    const { due } = this.#calls.keys(shard)
    const answer = await this.#calls.command(shard, 'zrange', [due, from, from, 'WITHSCORES'])
    return decodeScored(answer)[0]?.[1]
  }

  async #page({ shard, now }: DueShard, count: number): Promise<readonly Candidate[]> {
    const { due } = this.#calls.keys(shard)
    const answer = await this.#calls.command(shard, 'zrange', [
      ...[due, '-inf', now, 'BYSCORE'],
      ...['LIMIT', this.#from(shard), count, 'WITHSCORES'],
    ])
    return decodeScored(answer).map(([gid, dueAt]) => ({ shard, gid, dueAt }))
  }

  #from(shard: number): number {
    return this.passedOver.get(shard) ?? 0
  }
}

function firstOf(candidates: readonly Candidate[], rows: number): readonly Candidate[] {
  return candidates.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, rows)
}
