import { collectAnswers, groupByShard } from '../shards/by-shard.ts'
import { decodeScored } from '../shards/decode-answers.ts'
import { purgeCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

const SHARDS_AT_ONCE = 8
/** Bounds the rows that one search finds in all its shards together. */
const SEARCH_ROWS_MAX = 800

/**
 * Purges shard after shard until `limit` rows are gone. Each call starts at another shard, so that a small limit
 * reaches all.
 */
export class PurgeWalk {
  readonly #calls: ShardCalls
  #next = 0

  constructor(calls: ShardCalls) {
    this.#calls = calls
  }

  async purge(limit: number): Promise<number> {
    const { count } = this.#calls.shards
    const atOnce = Math.min(SHARDS_AT_ONCE, count)
    let purged = 0
    for (let walked = 0; walked < count && purged < limit; walked += atOnce) {
      const shards = Array.from({ length: atOnce }, (_, i) => (this.#next + i) % count)
      purged += await this.#purgeSome(shards, limit - purged)
      // A limit that was met leaves the rest of these shards for the next walk.
      if (purged < limit) this.#next = (this.#next + atOnce) % count
    }
    return purged
  }

  async #purgeSome(shards: readonly number[], limit: number): Promise<number> {
    const rowsEach = SEARCH_ROWS_MAX / shards.length
    let purged = 0
    for (;;) {
      const missing = limit - purged
      const found = await collectAnswers(
        shards.map((shard) => this.#findExpired(shard, Math.min(missing, rowsEach))),
      )
      const over = found.flat().slice(0, missing)
      if (over.length === 0) return purged
      const counts = await collectAnswers(
        groupByShard(this.#calls.shards, over, (gid) => gid).map(([shard, gids]) =>
          this.#calls.script(shard, 'purge', purgeCall(this.#calls.keys(shard), gids)),
        ),
      )
      const count = counts.reduce<number>((sum, answer) => sum + Number(answer), 0)
      purged += count
      // None of the found rows was still there, so another node is purging.
      if (count === 0 || purged >= limit) return purged
    }
  }

  async #findExpired(shard: number, rowsMax: number): Promise<readonly string[]> {
    const now = await this.#calls.time(shard)
    const answer = await this.#calls.command(shard, 'zrange', [
      ...[this.#calls.keys(shard).done, '-inf', now, 'BYSCORE'],
      ...['LIMIT', 0, rowsMax, 'WITHSCORES'],
    ])
    return decodeScored(answer).map(([gid]) => gid)
  }
}
