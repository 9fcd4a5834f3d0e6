import { answersOf } from './by-shard.ts'
import { decodeScored } from './decode-answers.ts'
import { purgeCall } from './encode-calls.ts'
import type { ShardCalls } from './shard-calls.ts'
import { SHARDS } from './shards.ts'

/** Of one shard in one script, which holds up everybody else for so long. */
const SCRIPT_ROWS_MAX = 100
const SHARDS_AT_ONCE = 8

/** Walks the shards until `limit` rows are gone, each time from another one on, so that a small limit reaches all. */
export class PurgeWalk {
  readonly #calls: ShardCalls
  #next = 0

  constructor(calls: ShardCalls) {
    this.#calls = calls
  }

  async purge(limit: number): Promise<number> {
    let purged = 0
    for (let walked = 0; walked < SHARDS && purged < limit; walked += SHARDS_AT_ONCE) {
      const shards = Array.from({ length: SHARDS_AT_ONCE }, (_, i) => (this.#next + i) % SHARDS)
      purged += await this.#purgeSome(shards, limit - purged)
      // A limit that was met leaves the rest of these shards for the next walk.
      if (purged < limit) this.#next = (this.#next + SHARDS_AT_ONCE) % SHARDS
    }
    return purged
  }

  async #purgeSome(shards: readonly number[], limit: number): Promise<number> {
    let purged = 0
    for (;;) {
      const found = await answersOf(shards.map((shard) => this.#over(shard, limit - purged)))
      let missing = limit - purged
      const calls = found.flatMap(({ shard, gids }) => {
        const mine = gids.slice(0, Math.min(missing, SCRIPT_ROWS_MAX))
        missing -= mine.length
        return mine.length === 0
          ? []
          : [this.#calls.script(shard, 'purge', purgeCall(this.#calls.keys(shard), mine))]
      })
      if (calls.length === 0) return purged
      const counts = await answersOf(calls)
      const count = counts.reduce<number>((sum, answer) => sum + Number(answer), 0)
      purged += count
      // Nothing of what was found was there any more: someone else purges.
      if (count === 0 || purged >= limit) return purged
    }
  }

  async #over(
    shard: number,
    limit: number,
  ): Promise<{ readonly shard: number; readonly gids: readonly string[] }> {
    const now = await this.#calls.time(shard)
    const answer = await this.#calls.command(shard, 'zrange', [
      ...[this.#calls.keys(shard).done, '-inf', now, 'BYSCORE'],
      ...['LIMIT', 0, Math.min(limit, SCRIPT_ROWS_MAX), 'WITHSCORES'],
    ])
    return { shard, gids: decodeScored(answer).map(([gid]) => gid) }
  }
}
