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

interface DueShard {
  readonly shard: number
  readonly now: number
}

interface Page extends DueShard {
  readonly found: readonly Candidate[]
}

interface Found {
  readonly found: readonly Candidate[]
  /** There are no more that are due. */
  readonly isAll: boolean
}

/** Each round that claims less than it wanted has met another claimer's rows, or rows that nobody here may take. */
const ROUNDS_MAX = 20
/** Of one shard in one round, where there are rows that nobody here may take. */
const PAGE_ROWS = 1_000
const SHARE_MORE_ROWS = 4

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
      const due = await this.#dueShards()
      if (this.#tokens.length === 0) return
      const { found, isAll } =
        this.#passedOver.size > 0 ? await this.#claimable(due) : await this.#oldest(due)
      if (found.length === 0 && isAll) return
      await this.#take(this.#first(found))
    }
  }

  /** A first glance at the lowest instant of each shard, so that an idle store is asked for little. */
  async #dueShards(): Promise<readonly DueShard[]> {
    const [masters, lowest] = await Promise.all([
      this.#calls.times(),
      answersOf(ALL_SHARDS.map(async (shard) => [shard, await this.#lowest(shard)] as const)),
    ])
    this.lookNows.push(...masters.map(({ now }) => now))
    const lowestOf = new Map(lowest)
    return masters.flatMap(({ shards, now }) =>
      shards.flatMap((shard) =>
        (lowestOf.get(shard) ?? Number.POSITIVE_INFINITY) <= now ? [{ shard, now }] : [],
      ),
    )
  }

  #first(found: readonly Candidate[]): readonly Candidate[] {
    return found.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, this.#tokens.length)
  }

  /**
   * Of each shard a little more than its share of the claim; then of those whose whole share is among the oldest,
   * as much as the claim could take.
   */
  async #oldest(due: readonly DueShard[]): Promise<Found> {
    const wanted = this.#tokens.length
    const share = Math.min(wanted, SHARE_MORE_ROWS + Math.ceil((2 * wanted) / due.length))
    const pages = await answersOf(due.map((shard) => this.#page(shard, share)))
    const oldest = new Set(this.#first(pages.flatMap(({ found }) => found)))
    const isSpent = ({ found }: Page) => found.length === share && found.every((row) => oldest.has(row))
    const spent = share < wanted ? pages.filter(isSpent) : []
    const longer = await answersOf(spent.map((page) => this.#page(page, wanted)))
    const found = [...pages.filter((page) => !spent.includes(page)), ...longer].flatMap((page) => page.found)
    return { found, isAll: true }
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

  async #page({ shard, now }: DueShard, count: number): Promise<Page> {
    const from = this.#passedOver.get(shard) ?? 0
    const { due } = this.#calls.keys(shard)
    const answer = await this.#calls.command(shard, 'zrange', [
      ...[due, '-inf', now, 'BYSCORE'],
      ...['LIMIT', from, count, 'WITHSCORES'],
    ])
    return { shard, now, found: decodeScored(answer).map(([gid, dueAt]) => ({ gid, dueAt })) }
  }

  /** Passes over whole pages of rows that nobody here may take, instead of trying each. */
  async #claimable(due: readonly DueShard[]): Promise<Found> {
    const pages = await answersOf(due.map((shard) => this.#page(shard, PAGE_ROWS)))
    const kept = pages.map(async ({ shard, found }) => {
      const gids = found.map(({ gid }) => gid)
      const call = readHeadsCall(this.#calls.keys(shard), gids)
      const heads = decodeHeads(gids, await this.#calls.script(shard, 'readHeads', call))
      const claimable = found.filter(
        (_, i) => (heads[i]?.format ?? Number.POSITIVE_INFINITY) <= this.#claim.formatMax,
      )
      this.#passOver(shard, found.length - claimable.length)
      return claimable
    })
    return {
      found: (await answersOf(kept)).flat(),
      isAll: pages.every(({ found }) => found.length < PAGE_ROWS),
    }
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
