import type { DueClaim, DueClaimResult, Lease, StoredTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { answersOf, byShard } from './by-shard.ts'
import { decodeClaimDue, decodeHeads, decodeScored } from './decode-answers.ts'
import { claimDueCall, readHeadsCall } from './encode-calls.ts'
import type { ShardCalls } from './shard-calls.ts'
import { ALL_SHARDS } from './shards.ts'

interface Candidate {
  readonly gid: Gid
  readonly dueAt: number
}

/** Each round that claims less than it wanted has met another claimer's rows, or rows that nobody here may take. */
const ROUNDS_MAX = 20
/** Of one shard in one round, where there are rows that nobody here may take. */
const PAGE_ROWS = 1_000

/** Claims the oldest due rows of all shards: one look at the indexes, then one script for each shard that has some of them. */
export async function claimDueRows(calls: ShardCalls, claim: DueClaim): Promise<DueClaimResult> {
  const run = new DueClaimRun(calls, claim)
  await run.run()
  return { now: Math.min(...(run.claimed.length > 0 ? run.claimNows : run.lookNows)), claimed: run.claimed }
}

class DueClaimRun {
  readonly claimed: StoredTransaction[] = []
  readonly lookNows: number[] = []
  readonly claimNows: number[] = []
  readonly #calls: ShardCalls
  readonly #claim: DueClaim
  readonly #tokens: string[]
  /** Of each shard the rows at the front of its index that nobody here may take. */
  readonly #passedOver = new Map<number, number>()

  constructor(calls: ShardCalls, claim: DueClaim) {
    this.#calls = calls
    this.#claim = claim
    this.#tokens = claim.tokens.slice(0, claim.limit)
  }

  async run(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const looks = await this.#look()
      if (this.#tokens.length === 0) return
      const isFiltered = this.#passedOver.size > 0
      const found = isFiltered ? await this.#claimable(looks) : looks.flatMap((look) => look.found)
      const oldest = found.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, this.#tokens.length)
      if (oldest.length === 0 && !(isFiltered && looks.some((look) => look.found.length === PAGE_ROWS)))
        return
      await this.#take(oldest)
    }
  }

  /** A first glance at the lowest instant of each shard, so that an idle store is asked for little. */
  async #look(): Promise<readonly { readonly shard: number; readonly found: readonly Candidate[] }[]> {
    const [masters, lowest] = await Promise.all([
      this.#calls.times(),
      answersOf(ALL_SHARDS.map(async (shard) => [shard, await this.#lowest(shard)] as const)),
    ])
    this.lookNows.push(...masters.map(({ now }) => now))
    const lowestOf = new Map(lowest)
    const due = masters.flatMap(({ shards, now }) =>
      shards
        .filter((shard) => (lowestOf.get(shard) ?? Number.POSITIVE_INFINITY) <= now)
        .map((shard) => [shard, now] as const),
    )
    return answersOf(due.map(async ([shard, now]) => ({ shard, found: await this.#dueOf(shard, now) })))
  }

  async #lowest(shard: number): Promise<number | undefined> {
    const from = this.#passedOver.get(shard) ?? 0
    const answer = await this.#calls.command(shard, 'zrange', [
      this.#calls.keys(shard).due,
      from,
      from,
      'WITHSCORES',
    ])
    return decodeScored(answer)[0]?.[1]
  }

  async #dueOf(shard: number, now: number): Promise<readonly Candidate[]> {
    const from = this.#passedOver.get(shard) ?? 0
    const count = this.#passedOver.size > 0 ? PAGE_ROWS : this.#tokens.length
    const { due } = this.#calls.keys(shard)
    const answer = await this.#calls.command(shard, 'zrange', [
      ...[due, '-inf', now, 'BYSCORE'],
      ...['LIMIT', from, count, 'WITHSCORES'],
    ])
    return decodeScored(answer).map(([gid, dueAt]) => ({ gid, dueAt }))
  }

  /** Passes over whole pages of rows that nobody here may take, instead of trying each. */
  async #claimable(
    looks: readonly { readonly shard: number; readonly found: readonly Candidate[] }[],
  ): Promise<readonly Candidate[]> {
    const kept = looks.map(async ({ shard, found }) => {
      const gids = found.map(({ gid }) => gid)
      const call = readHeadsCall(this.#calls.keys(shard), gids)
      const heads = decodeHeads(gids, await this.#calls.script(shard, 'readHeads', call))
      const claimable = found.filter(
        (_, i) => (heads[i]?.format ?? Number.POSITIVE_INFINITY) <= this.#claim.formatMax,
      )
      this.#passOver(shard, found.length - claimable.length)
      return claimable
    })
    return (await answersOf(kept)).flat()
  }

  async #take(oldest: readonly Candidate[]): Promise<void> {
    const leases = oldest.map(({ gid }) => ({ gid, token: this.#tokens.shift() ?? '' }))
    const rows = new Map<Gid, StoredTransaction>()
    await answersOf(byShard(leases, ({ gid }) => gid).map(([shard, mine]) => this.#takeOf(shard, mine, rows)))
    // In the order of the look, which is that of the instants.
    for (const { gid } of leases) {
      const row = rows.get(gid)
      if (row !== undefined) this.claimed.push(row)
    }
  }

  /** A token whose call was not answered is not used again. */
  async #takeOf(shard: number, leases: readonly Lease[], rows: Map<Gid, StoredTransaction>): Promise<void> {
    const answer = await this.#calls.script(
      shard,
      'claimDue',
      claimDueCall(this.#calls.keys(shard), leases, this.#claim),
    )
    const result = decodeClaimDue(leases, answer)
    this.claimNows.push(result.now)
    leases.forEach(({ gid, token }, i) => {
      const row = result.rows[i]
      if (typeof row === 'object') rows.set(gid, row)
      else this.#tokens.push(token)
      if (row === 'unknown') this.#passOver(shard, 1)
    })
  }

  #passOver(shard: number, count: number): void {
    if (count > 0) this.#passedOver.set(shard, (this.#passedOver.get(shard) ?? 0) + count)
  }
}
