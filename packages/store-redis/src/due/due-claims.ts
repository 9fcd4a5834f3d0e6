import {
  AssertionError,
  type DueClaim,
  type DueClaimResult,
  type StoredTransaction,
  StoreUnavailableError,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { countWithin, ROWS_BYTES_MAX } from '../links/answer-bound.ts'
import { byShard } from '../shards/by-shard.ts'
import { decodeClaimDue } from '../shards/decode-answers.ts'
import { claimDueCall, weighCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'
import { type Candidate, DueLook } from './due-look.ts'

interface Weighed extends Candidate {
  readonly bytes: number
}

interface Lease extends Candidate {
  readonly token: string
}

/** Each further round follows one that has met another claimer's rows, or rows that nobody here may take. */
const ROUNDS_MAX = 20
/** Of one round, where there are rows that nobody here may take. */
const LOOK_ROWS_MAX = 1_000

/** Claims the oldest due rows of all shards: looks, weighs what it found, then takes. */
export class DueClaims {
  readonly #calls: ShardCalls
  /** Where a claim had to stop before it had seen all, by shard: the next one goes on there, and the one after it begins anew. */
  #passedOver: ReadonlyMap<number, number> = new Map()

  constructor(calls: ShardCalls) {
    this.#calls = calls
  }

  async claim(claim: DueClaim): Promise<DueClaimResult> {
    const look = new DueLook(this.#calls, this.#passedOver)
    const run = new DueClaimRun(this.#calls, look, claim)
    const end = await run.run()
    this.#passedOver = end === 'rounds' ? look.passedOver : new Map()
    return {
      now: Math.min(...(run.claimed.length > 0 ? run.nows : look.nows)),
      claimed: run.claimed,
      ...(end !== 'done' && { mayBeMore: true }),
    }
  }
}

/** Why a claim has ended: nothing is left for it, its bytes are spent, or its rounds. */
type End = 'done' | 'bytes' | 'rounds'

class DueClaimRun {
  readonly claimed: StoredTransaction[] = []
  /** Of the scripts that have claimed. */
  readonly nows: number[] = []
  readonly #calls: ShardCalls
  readonly #look: DueLook
  readonly #claim: DueClaim
  readonly #tokens: string[]
  readonly #failures: unknown[] = []
  #bytesLeft = ROWS_BYTES_MAX

  constructor(calls: ShardCalls, look: DueLook, claim: DueClaim) {
    this.#calls = calls
    this.#look = look
    this.#claim = claim
    this.#tokens = claim.tokens.slice(0, claim.limit)
  }

  /** What it has claimed is its caller's, whatever has failed beside it: nobody else knows of it. */
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
      const found = await this.#look.oldest(rows)
      const claimable = await this.#weigh(found)
      const wanted = claimable.slice(0, this.#tokens.length)
      const sizes = wanted.map(({ bytes }) => bytes)
      const taken = wanted.slice(0, countWithin(sizes, this.#bytesLeft))
      await this.#take(taken)
      if (taken.length < wanted.length) return 'bytes'
      const isAllSeen = found.length < rows && wanted.length === claimable.length
      if (isAllSeen || this.#tokens.length === 0) return 'done'
      if (this.#bytesLeft <= 0) return 'bytes'
      if (claimable.length < found.length) rows = Math.min(rows * 2, LOOK_ROWS_MAX)
    }
    return 'rounds'
  }

  /** In the same order; without those that nobody here may take, which are passed over from now on. */
  async #weigh(found: readonly Candidate[]): Promise<readonly Weighed[]> {
    const weighed = new Map<Gid, number>()
    await this.#inEachShard(found, async (shard, mine) => {
      const gids = mine.map(({ gid }) => gid)
      const call = weighCall(this.#calls.keys(shard), gids, this.#claim.formatMax)
      const sizes = (await this.#calls.script(shard, 'weigh', call)) as readonly number[]
      gids.forEach((gid, i) => {
        const bytes = sizes[i] ?? -1
        if (bytes >= 0) weighed.set(gid, bytes)
        else this.#look.passOver(shard, 1)
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
    await this.#inEachShard(leases, (shard, mine) => this.#takeOf(shard, mine, claimed))
    // In the order of the look, which is that of the instants.
    for (const { gid, bytes } of rows) {
      const row = claimed.get(gid)
      if (row === undefined) continue
      this.claimed.push(row)
      this.#bytesLeft -= bytes
    }
  }

  async #takeOf(
    shard: number,
    leases: readonly Lease[],
    claimed: Map<Gid, StoredTransaction>,
  ): Promise<void> {
    const call = claimDueCall(this.#calls.keys(shard), leases, this.#claim)
    const answer = await this.#calls.script(shard, 'claimDue', call).catch((error: unknown) => {
      // A token that may have been taken is not used again.
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
      if (row === 'unknown') this.#look.passOver(shard, 1)
    })
  }

  /** A shard that fails is left out of this claim from now on; the others go on. */
  async #inEachShard<Row extends Candidate>(
    rows: readonly Row[],
    call: (shard: number, mine: readonly Row[]) => Promise<void>,
  ): Promise<void> {
    const calls = byShard(this.#calls.shards, rows, ({ gid }) => gid).map(async ([shard, mine]) => {
      try {
        await call(shard, mine)
      } catch (error: unknown) {
        this.#failures.push(error)
        this.#look.leaveOut(shard)
      }
    })
    await Promise.all(calls)
  }
}
