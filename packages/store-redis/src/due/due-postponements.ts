import { AssertionError, type DuePostponement, type DuePostponementResult } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { groupByShard } from '../shards/by-shard.ts'
import { decodePostponeDue, type PostponeOutcome } from '../shards/decode-answers.ts'
import { postponeDueCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { type Candidate, DueSearch } from './due-search.ts'

/**
 * Each further round follows one that has met another caller's rows, rows left for it, or rows that this version may
 * not take.
 */
const ROUNDS_MAX = 20

/** Postpones the oldest due rows of all shards: it finds them, then moves them. */
export class DuePostponements {
  readonly #calls: ShardCalls
  /**
   * Holds by shard the place where a call had to stop before the end. The next call goes on there, and the one after
   * it begins anew.
   */
  #passedOver: ReadonlyMap<number, number> = new Map()

  constructor(calls: ShardCalls) {
    this.#calls = calls
  }

  async postpone(postponement: DuePostponement): Promise<DuePostponementResult> {
    const search = new DueSearch(this.#calls, this.#passedOver)
    const run = new DuePostponementRun(this.#calls, search, postponement)
    const end = await run.run()
    this.#passedOver = end === 'rounds' ? search.passedOver : new Map()
    return {
      now: Math.min(...(run.gids.length > 0 ? run.nows : search.nows)),
      gids: run.gids,
      ...(end === 'rounds' && { mayBeMore: true }),
    }
  }
}

class DuePostponementRun {
  readonly gids: Gid[] = []
  /** The clocks of the scripts that were asked. */
  readonly nows: number[] = []
  readonly #calls: ShardCalls
  readonly #search: DueSearch
  readonly #postponement: DuePostponement
  readonly #failures: unknown[] = []

  constructor(calls: ShardCalls, search: DueSearch, postponement: DuePostponement) {
    this.#calls = calls
    this.#search = search
    this.#postponement = postponement
  }

  /** Returns the moved rows even if another shard has failed, since no other node sees them until they are due again. */
  async run(): Promise<'done' | 'rounds'> {
    let end: 'done' | 'rounds' = 'done'
    try {
      end = await this.#rounds()
    } catch (error: unknown) {
      this.#failures.push(error)
    }
    if (this.gids.length > 0 || this.#failures.length === 0) return end
    throw this.#failures.find((failure) => failure instanceof AssertionError) ?? this.#failures[0]
  }

  async #rounds(): Promise<'done' | 'rounds'> {
    const { limit } = this.#postponement
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const wanted = limit - this.gids.length
      const found = await this.#search.findOldest(wanted)
      const isAnyLeft = await this.#move(found)
      const isAllSeen = found.length < wanted && !isAnyLeft
      if (isAllSeen || this.gids.length === limit) return 'done'
    }
    return 'rounds'
  }

  /** Adds the moved gids in the order of the search, which is the order of their due times. */
  async #move(found: readonly Candidate[]): Promise<boolean> {
    const outcomes = new Map<Gid, PostponeOutcome>()
    const calls = groupByShard(this.#calls.shards, found, ({ gid }) => gid).map(async ([shard, mine]) => {
      try {
        const gids = mine.map(({ gid }) => gid)
        await this.#moveInShard(shard, gids, outcomes)
      } catch (error: unknown) {
        // A shard that fails is left out from now on, and the others go on.
        this.#failures.push(error)
        this.#search.leaveOut(shard)
      }
    })
    await Promise.all(calls)
    this.gids.push(...found.flatMap(({ gid }) => (outcomes.get(gid) === 'moved' ? [gid] : [])))
    return [...outcomes.values()].includes('left')
  }

  async #moveInShard(
    shard: number,
    gids: readonly Gid[],
    outcomes: Map<Gid, PostponeOutcome>,
  ): Promise<void> {
    const call = postponeDueCall(this.#calls.keys(shard), gids, this.#postponement)
    const { now, rows } = decodePostponeDue(await this.#calls.script(shard, 'postponeDue', call))
    this.nows.push(now)
    gids.forEach((gid, i) => {
      const outcome = rows[i]
      if (outcome !== undefined) outcomes.set(gid, outcome)
    })
    this.#search.passOver(shard, rows.filter((outcome) => outcome === 'unknown').length)
  }
}
