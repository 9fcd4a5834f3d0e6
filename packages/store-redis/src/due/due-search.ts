import type { Gid } from '@counterstep/protocol'
import { collectAnswers } from '../shards/by-shard.ts'
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

/** Finds the oldest due rows of all shards. In each shard it skips the first rows, which this version may not take. */
export class DueSearch {
  /** These are the clocks of all servers, from each search. */
  readonly nows: number[] = []
  /** This is the number of skipped rows by shard. */
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
   * Finds at most `rows`, and fewer only if there are no more. It first asks each shard for a little more than its share.
   * A shard whose whole share is among the oldest may have more of them, so it is then asked for as many as `rows`.
   */
  async findOldest(rows: number): Promise<readonly Candidate[]> {
    const due = await this.#findDueShards()
    const share = Math.min(rows, SHARE_MORE_ROWS + Math.ceil((2 * rows) / due.length))
    const pages = await collectAnswers(due.map((shard) => this.#readPage(shard, share)))
    const oldest = new Set(takeFirst(pages.flat(), rows))
    const isSpent = (page: readonly Candidate[]) =>
      page.length === share && share < rows && page.every((row) => oldest.has(row))
    const spent = new Set(pages.filter(isSpent).map(([row]) => row?.shard))
    const longer = await collectAnswers(
      due.filter(({ shard }) => spent.has(shard)).map((shard) => this.#readPage(shard, rows)),
    )
    return takeFirst([...pages.filter((page) => !isSpent(page)), ...longer].flat(), rows)
  }

  /** Reads only the earliest due time of each shard, so that an idle store has little to answer. */
  async #findDueShards(): Promise<readonly DueShard[]> {
    const looked = this.#calls.shards.all.filter((shard) => !this.#leftOut.has(shard))
    const [masters, lowest] = await Promise.all([
      this.#calls.times(),
      collectAnswers(looked.map(async (shard) => [shard, await this.#readLowest(shard)] as const)),
    ])
    this.nows.push(...masters.map(({ now }) => now))
    const lowestByShard = new Map(lowest)
    return masters.flatMap(({ shards, now }) =>
      shards.flatMap((shard) =>
        (lowestByShard.get(shard) ?? Number.POSITIVE_INFINITY) <= now ? [{ shard, now }] : [],
      ),
    )
  }

  async #readLowest(shard: number): Promise<number | undefined> {
    const from = this.#from(shard)
    const { due } = this.#calls.keys(shard)
    const answer = await this.#calls.command(shard, 'zrange', [due, from, from, 'WITHSCORES'])
    return decodeScored(answer)[0]?.[1]
  }

  async #readPage({ shard, now }: DueShard, count: number): Promise<readonly Candidate[]> {
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

function takeFirst(candidates: readonly Candidate[], rows: number): readonly Candidate[] {
  return candidates.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, rows)
}
