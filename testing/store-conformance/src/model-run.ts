import assert from 'node:assert/strict'
import {
  type NewTransaction,
  PARKED_AT,
  type Store,
  type StoredTransaction,
  type TransactionUpdate,
  type UpdateHold,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { Model } from './model.ts'
import { ModelClock } from './model-clock.ts'
import type { ConformanceOptions } from './runner.ts'
import { asGid, assertRaised, aTransaction, drawToken, drawTokens, FORMAT } from './transactions.ts'

/** One random step: the action, the gid, the owner, and a number whose meaning depends on the action. */
export type ModelStep = readonly [what: number, gid: number, owner: number, amount: number]
/** The largest values of the four numbers. */
export const MODEL_STEP_MAX = [10, 3, 2, 7] as const

const GIDS = ['order-1', 'order-10', 'ORDER-1', '~'].map(asGid)
const LEASE_MS = 100
const POSTPONE_MS = 50
const JUMPS_MS = [0, 1, 1, 50, 99, 100, 101, 1_000]

/**
 * Plays the steps on a store and on the model, and compares the two after every step. A store that takes the given clock
 * must set each time exactly. A store with a server's clock must take its times from within the call, and the model then
 * takes those times.
 */
export async function runAgainstModel(
  open: ConformanceOptions['open'],
  place: string,
  steps: readonly ModelStep[],
): Promise<void> {
  const run = new ModelRun(open, place)
  try {
    await run.open()
    for (const step of steps) await run.step(step)
  } finally {
    await run.close()
  }
}

class ModelRun {
  readonly #model = new Model()
  readonly #openStore: () => Promise<Store>
  #opened: Store | undefined
  #clock: ModelClock | undefined
  /** The last version of each gid that each owner knows. It is stale as soon as another owner has written. */
  readonly #known = new Map<string, { token: string; version: number }>()
  readonly #lastWrites = new Map<number, NewTransaction | TransactionUpdate>()

  constructor(open: ConformanceOptions['open'], place: string) {
    this.#openStore = () => open({ now: () => this.#model.now, place })
  }

  async open(): Promise<void> {
    this.#opened = await this.#openStore()
    this.#clock ??= await ModelClock.start(this.#model, () => this.#store)
  }

  async close(): Promise<void> {
    await this.#opened?.close()
  }

  get #store(): Store {
    assert.ok(this.#opened !== undefined)
    return this.#opened
  }

  get #time(): ModelClock {
    assert.ok(this.#clock !== undefined)
    return this.#clock
  }

  async step([what, gidIndex, owner, amount]: ModelStep): Promise<void> {
    const gid = GIDS[gidIndex] ?? asGid('order-1')
    const key = `${owner} ${gid}`
    const actions = [
      () => this.#create(gid, key, owner, amount),
      () => this.#update(gid, key, owner, amount),
      () => this.#command(gid, key, owner, amount),
      () => this.#repeat(owner, key),
      () => this.#claim(gid, key),
      () => this.#claimDue(owner, amount),
      () => this.#renew(owner),
      () => this.#time.pass(JUMPS_MS[amount] ?? 0),
      () => this.#purge(),
      () => this.#reopen(amount),
      () => this.#postponeDue(amount),
    ]
    await actions[what]?.()
    await this.#compare()
  }

  async #create(gid: string, key: string, owner: number, amount: number): Promise<void> {
    const hold =
      amount < 4
        ? ({ type: 'owned', leaseMs: LEASE_MS } as const)
        : ({ type: 'waiting', dueInMs: amount } as const)
    const transaction = aTransaction(gid, { hold, sentList: amount % 2 === 0 ? 'held' : 'released' })
    this.#lastWrites.set(owner, transaction)
    if ((await this.#sendCreate(transaction)) === 'created') {
      this.#known.set(key, { token: transaction.token, version: 1 })
    }
  }

  async #sendCreate(transaction: NewTransaction): Promise<string> {
    const { gid, writeId } = transaction
    const result = await this.#time.during(() => this.#store.create(transaction))
    if (result.type === 'created' && this.#model.rows.get(gid)?.writeId !== writeId) {
      this.#forgetExpired(gid)
      this.#time.take(result.createdAt)
    }
    const expected = this.#model.create(transaction)
    assert.equal(result.type, expected)
    const row = this.#model.rows.get(gid)
    if (result.type === 'created') assert.equal(result.createdAt, row?.createdAt)
    else assert.deepEqual([result.digest, result.status], [row?.digest, row?.status])
    return expected
  }

  async #update(gid: string, key: string, owner: number, amount: number): Promise<void> {
    const known = this.#known.get(key)
    if (known === undefined) return
    const hold = this.#makeHold(amount)
    const update: TransactionUpdate = {
      ...{ gid: asGid(gid), token: known.token, version: known.version, writeId: drawToken() },
      ...{
        status: hold.type === 'finish' ? 'failed' : 'aborting',
        format: FORMAT,
        progress: `p${amount}`,
        hold,
      },
      ...{ retrying: amount % 2 === 0, attention: amount % 3 === 0 },
      ...(amount % 4 === 1 && { sentList: 'released' }),
      ...(amount % 3 > 0 && { problem: `bank-${amount % 3} action 500`, attempts: amount }),
      ...(amount % 5 === 1 && { marks: ['paused', 'edited'] }),
    }
    this.#lastWrites.set(owner, update)
    await this.#sendUpdate(update, key)
  }

  /** Writes like a node that does not own the row: it reads first, and makes the version of the row's owner stale. */
  async #command(gid: string, key: string, owner: number, amount: number): Promise<void> {
    const row = this.#model.rows.get(gid)
    if (row !== undefined) this.#known.set(key, { token: row.token, version: row.version })
    await this.#update(gid, key, owner, amount)
  }

  #makeHold(amount: number): UpdateHold {
    const { now } = this.#model
    const holds: readonly UpdateHold[] = [
      { type: 'keep' },
      { type: 'keep' },
      { type: 'release', dueAt: now },
      { type: 'release', dueAt: now + LEASE_MS },
      { type: 'release', dueAt: PARKED_AT },
      { type: 'command' },
      { type: 'finish', retentionMs: 1 },
      { type: 'command', dueAt: now + 1 },
    ]
    return holds[amount] ?? { type: 'keep' }
  }

  async #sendUpdate(update: TransactionUpdate, key: string): Promise<void> {
    const { gid, token } = update
    const before = this.#model.rows.get(gid)
    const result = await this.#time.during(() => this.#store.update(update))
    if (result.type === 'absent') this.#forgetExpired(gid)
    if (result.type === 'saved' && before?.writeId !== update.writeId) {
      const [row] = await this.#store.readMany([gid])
      assert.ok(result.now >= (row?.updatedAt ?? result.now))
      this.#time.take(row?.updatedAt ?? result.now)
    }
    const known = before?.version ?? 0
    const expected = this.#model.update(update)
    assert.equal(result.type, expected === 'repeated' ? 'saved' : expected)
    if (!('version' in result)) return
    if (expected === 'saved') {
      assertRaised(result.version, known)
      this.#model.raiseTo(gid, result.version)
    } else {
      assert.equal(result.version, known)
    }
    if (result.type === 'saved') this.#known.set(key, { token, version: result.version })
  }

  async #repeat(owner: number, key: string): Promise<void> {
    const write = this.#lastWrites.get(owner)
    if (write === undefined) return
    if ('version' in write) await this.#sendUpdate(write, key)
    else await this.#sendCreate(write)
  }

  async #claim(gid: string, key: string): Promise<void> {
    const claim = { gid: asGid(gid), token: drawToken(), leaseMs: LEASE_MS, formatMax: FORMAT }
    const result = await this.#time.during(() => this.#store.claim(claim))
    if (result.type === 'claimed') {
      assert.equal(result.transaction.dueAt, result.now + LEASE_MS)
      this.#take(result.transaction, key)
      return
    }
    if (result.reason === 'absent') this.#forgetExpired(gid)
    // A row that is held at any time of the call is held at its beginning, and the model's clock stands there.
    assert.equal(this.#model.claim(gid, claim.token, LEASE_MS), result.reason)
  }

  /** The model must allow the claim at the store's time too. */
  #take({ gid, token, version, dueAt }: StoredTransaction, key: string): void {
    this.#time.take(dueAt - LEASE_MS)
    const before = this.#model.rows.get(gid)?.version ?? 0
    assert.equal(this.#model.claim(gid, token, LEASE_MS), 'claimed')
    assertRaised(version, before)
    this.#model.raiseTo(gid, version)
    this.#known.set(key, { token, version })
  }

  async #claimDue(owner: number, limit: number): Promise<void> {
    const tokens = drawTokens(limit)
    const claim = { limit, leaseMs: LEASE_MS, tokens, formatMax: FORMAT }
    const { claimed } = await this.#time.during(() => this.#store.claimDue(claim))
    this.#assertOldestDue(
      claimed.map(({ gid }) => gid),
      limit,
    )
    assert.equal(new Set(claimed.map((row) => row.token)).size, claimed.length)
    for (const row of claimed) {
      assert.ok(tokens.includes(row.token))
      this.#take(row, `${owner} ${row.gid}`)
    }
  }

  /** Checks that the gids are the oldest due rows of the model, in order. */
  #assertOldestDue(gids: readonly Gid[], limit: number): void {
    const due = this.#model.findDue(this.#time.to)
    const surelyDue = this.#model.findDue(this.#time.from)
    const instants = gids.map((gid) => due.get(gid) ?? Number.POSITIVE_INFINITY)
    const last = instants.at(-1) ?? 0
    assert.ok(last <= this.#time.to, 'a row was taken that is not due')
    assert.deepEqual(
      instants,
      [...instants].sort((a, b) => a - b),
    )
    assert.equal(new Set(gids).size, gids.length)
    assert.ok(gids.length <= limit && gids.length >= Math.min(limit, surelyDue.size))
    for (const gid of gids) surelyDue.delete(gid)
    for (const dueAt of surelyDue.values()) assert.ok(dueAt >= last, 'an older row was left')
  }

  async #postponeDue(limit: number): Promise<void> {
    const postponement = { limit, byMs: POSTPONE_MS, formatMax: FORMAT }
    const { now, gids } = await this.#time.during(() => this.#store.postponeDue(postponement))
    this.#assertOldestDue(gids, limit)
    const rows = new Map((await this.#store.readMany(gids)).map((row) => [row.gid, row]))
    for (const gid of gids) {
      const postponedAt = (rows.get(gid)?.dueAt ?? 0) - POSTPONE_MS
      assert.ok(postponedAt >= now)
      this.#time.take(postponedAt)
      this.#model.postpone(gid, POSTPONE_MS)
    }
  }

  async #renew(owner: number): Promise<void> {
    const leases = GIDS.flatMap((gid) => {
      const known = this.#known.get(`${owner} ${gid}`)
      return known === undefined ? [] : [{ gid, token: known.token }]
    })
    const { renewed, lost } = await this.#time.during(() => this.#store.renew(leases, LEASE_MS))
    const versions = new Map(renewed.map(({ gid, version }) => [gid, version]))
    const rows = new Map((await this.#store.readMany(GIDS)).map((row) => [row.gid, row]))
    for (const { gid, token } of leases) {
      if (versions.has(gid)) this.#time.take((rows.get(gid)?.dueAt ?? 0) - LEASE_MS)
      const expected = this.#model.renew(gid, token, LEASE_MS)
      assert.equal(lost.includes(gid) ? 'lost' : versions.get(gid), expected)
    }
  }

  async #purge(): Promise<void> {
    const { purged } = await this.#time.during(() => this.#store.purgeFinished(10))
    const over = this.#model.findPurgeable(this.#time.from)
    assert.deepEqual(await this.#store.readMany(over), [])
    for (const gid of over) this.#model.rows.delete(gid)
    if (this.#time.isExact) assert.equal(purged, over.length)
  }

  /** A store with its own clock may let a finished row expire by itself, but not before the end of its retention. */
  #forgetExpired(gid: string): void {
    if (this.#time.isExact || !this.#model.findPurgeable(this.#time.to).some((over) => over === gid)) return
    this.#model.rows.delete(gid)
  }

  async #reopen(amount: number): Promise<void> {
    // One step in eight reopens, because opening a durable store is slow.
    if (amount > 0 || !this.#store.capabilities.durable) return
    await this.#time.during(async () => {
      await this.#store.close()
      await this.open()
    })
    for (const row of await this.#store.readMany(GIDS)) {
      if (row.owned || !this.#model.rows.get(row.gid)?.owned) continue
      this.#time.take(row.dueAt)
      this.#model.voidLease(row.gid)
    }
  }

  async #compare(): Promise<void> {
    const { rows, items, byDue, stats } = await this.#time.during(async () => ({
      rows: new Map((await this.#store.readMany(GIDS)).map((row) => [row.gid, row])),
      items: (await this.#store.list({ limit: 10 })).items.map((item) => item.gid),
      byDue: (await this.#store.list({ limit: 10, order: 'due' })).items.map((item) => item.gid),
      stats: await this.#store.stats(),
    }))
    for (const gid of GIDS) {
      if (rows.has(gid) && items.includes(gid)) continue
      this.#forgetExpired(gid)
      // The row may have expired between the two reads.
      if (!this.#model.rows.has(gid) && !items.includes(gid)) rows.delete(gid)
    }
    assert.deepEqual(rows, new Map(this.#model.rows))
    assert.deepEqual(items, this.#model.listNewestFirst())
    assert.deepEqual(byDue, this.#model.listUnfinishedByDue())
    const { problems, paused } = this.#model.countTrouble()
    assert.deepEqual(new Map(stats.problems.map(({ problem, waiting }) => [problem, waiting])), problems)
    assert.equal(stats.paused, paused)
    const { unfinished } = stats
    const live = [...this.#model.rows.values()].filter((row) => row.status !== 'failed').length
    assert.equal(unfinished.prepared + unfinished.submitted + unfinished.aborting, live)
  }
}
