import {
  AssertionError,
  type DueClaim,
  type DueClaimResult,
  type StoredTransaction,
  StoreUnavailableError,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { countWithin, ROWS_BYTES_MAX } from '../links/answer-bound.ts'
import { groupByShard } from '../shards/by-shard.ts'
import { decodeClaimDue } from '../shards/decode-answers.ts'
import { claimDueCall, weighCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { type Candidate, DueSearch } from './due-search.ts'

interface Weighed extends Candidate {
  readonly bytes: number
}

interface Lease extends Candidate {
  readonly token: string
}

/** Each further round follows one that has met another claimer's rows, or rows that this version may not take. */
const ROUNDS_MAX = 20
/** Bounds the rows of one round if there are rows that this version may not take. */
const SEARCH_ROWS_MAX = 1_000

/** Claims the oldest due rows of all shards: it finds candidates, reads their sizes, then takes them. */
export class DueClaims {
  readonly #calls: ShardCalls
  /**
   * Holds by shard the place where a claim had to stop before the end. The next claim goes on there, and the one
   * after it begins anew.
   */
  #passedOver: ReadonlyMap<number, number> = new Map()

  constructor(calls: ShardCalls) {
    this.#calls = calls
  }

  async claim(claim: DueClaim): Promise<DueClaimResult> {
    const search = new DueSearch(this.#calls, this.#passedOver)
    const run = new DueClaimRun(this.#calls, search, claim)
    const end = await run.run()
    this.#passedOver = end === 'rounds' ? search.passedOver : new Map()
    return {
      now: Math.min(...(run.claimed.length > 0 ? run.nows : search.nows)),
      claimed: run.claimed,
      ...(end !== 'done' && { mayBeMore: true }),
    }
  }
}

/** The reason why a claim has ended: nothing is left for it, or its bytes or its rounds are used up. */
type End = 'done' | 'bytes' | 'rounds'

class DueClaimRun {
  readonly claimed: StoredTransaction[] = []
  /** The clocks of the scripts that have claimed. */
  readonly nows: number[] = []
  readonly #calls: ShardCalls
  readonly #search: DueSearch
  readonly #claim: DueClaim
  readonly #tokens: string[]
  readonly #failures: unknown[] = []
  #bytesLeft = ROWS_BYTES_MAX

  constructor(calls: ShardCalls, search: DueSearch, claim: DueClaim) {
    this.#calls = calls
    this.#search = search
    this.#claim = claim
    this.#tokens = claim.tokens.slice(0, claim.limit)
  }

  /** Returns the claimed rows even if another shard has failed, since no other node knows that they are claimed. */
  async run(): Promise<End> {
    let end: End = 'done'
    try {
      end = await this.#rounds()
    } catch (error: unknown) {
      this.#failures.push(error)
    }
    if (this.claimed.length > 0 || this.#failures.length === 0) return end
    throw this.#failures.find((failure) => failure instanceof AssertionError) ?? this.#failures[0]
  }

  async #rounds(): Promise<End> {
    let rows = this.#tokens.length
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const found = await this.#search.findOldest(rows)
      const claimable = await this.#weigh(found)
      const wanted = claimable.slice(0, this.#tokens.length)
      const sizes = wanted.map(({ bytes }) => bytes)
      const taken = wanted.slice(0, countWithin(sizes, this.#bytesLeft))
      await this.#take(taken)
      if (taken.length < wanted.length) return 'bytes'
      const isAllSeen = found.length < rows && wanted.length === claimable.length
      if (isAllSeen || this.#tokens.length === 0) return 'done'
      if (this.#bytesLeft <= 0) return 'bytes'
      if (claimable.length < found.length) rows = Math.min(rows * 2, SEARCH_ROWS_MAX)
    }
    return 'rounds'
  }

  /** Keeps the order, and leaves out the rows that this version may not take. They are passed over from now on. */
  async #weigh(found: readonly Candidate[]): Promise<readonly Weighed[]> {
    const weighed = new Map<Gid, number>()
    await this.#inEachShard(found, async (shard, mine) => {
      const gids = mine.map(({ gid }) => gid)
      const call = weighCall(this.#calls.keys(shard), gids, this.#claim.formatMax)
      const sizes = (await this.#calls.script(shard, 'weigh', call)) as readonly number[]
      gids.forEach((gid, i) => {
        const bytes = sizes[i] ?? -1
        if (bytes >= 0) weighed.set(gid, bytes)
        else this.#search.passOver(shard, 1)
      })
    })
    return found.flatMap((row) => {
      const bytes = weighed.get(row.gid)
      return bytes === undefined ? [] : [{ ...row, bytes }]
    })
  }

  async #take(rows: readonly Weighed[]): Promise<void> {
    const leases = rows.map((row) => ({ ...row, token: this.#tokens.shift() ?? '' }))
    const claimed = new Map<Gid, StoredTransaction>()
    await this.#inEachShard(leases, (shard, mine) => this.#takeInShard(shard, mine, claimed))
    // The rows are in the order of the search, which is the order of their due times.
    for (const { gid, bytes } of rows) {
      const row = claimed.get(gid)
      if (row === undefined) continue
      this.claimed.push(row)
      this.#bytesLeft -= bytes
    }
  }

  async #takeInShard(
    shard: number,
    leases: readonly Lease[],
    claimed: Map<Gid, StoredTransaction>,
  ): Promise<void> {
    const call = claimDueCall(this.#calls.keys(shard), leases, this.#claim)
    const answer = await this.#calls.script(shard, 'claimDue', call).catch((error: unknown) => {
      // A token that may be in a row is not used again.
      const isUnused = error instanceof StoreUnavailableError && error.applied === 'no'
      if (isUnused) this.#tokens.push(...leases.map(({ token }) => token))
      throw error
    })
    const { now, rows } = decodeClaimDue(leases, answer)
    this.nows.push(now)
    leases.forEach(({ gid, token }, i) => {
      const row = rows[i]
      if (typeof row === 'object') claimed.set(gid, row)
      else if (row !== 'unreadable') this.#tokens.push(token)
      if (row === 'unknown') this.#search.passOver(shard, 1)
    })
  }

  /** A shard that fails is left out of this claim from now on, and the others go on. */
  async #inEachShard<Row extends Candidate>(
    rows: readonly Row[],
    call: (shard: number, mine: readonly Row[]) => Promise<void>,
  ): Promise<void> {
    const calls = groupByShard(this.#calls.shards, rows, ({ gid }) => gid).map(async ([shard, mine]) => {
      try {
        await call(shard, mine)
      } catch (error: unknown) {
        this.#failures.push(error)
        this.#search.leaveOut(shard)
      }
    })
    await Promise.all(calls)
  }
}
