import assert from 'node:assert/strict'
import {
  type NewTransaction,
  PARKED_AT,
  type Store,
  type TransactionUpdate,
  type UpdateHold,
} from '@counterstep/core'
import { Model } from './model.ts'
import type { ConformanceOptions } from './runner.ts'
import { asGid, aTransaction, drawToken, drawTokens, FORMAT } from './transactions.ts'

/** One random step: what, on which gid, by which owner, and a number whose meaning depends on what. */
export type ModelStep = readonly [what: number, gid: number, owner: number, amount: number]
/** Upper bounds, inclusive, for the four numbers. */
export const MODEL_STEP_MAX = [9, 3, 2, 7] as const

const GIDS = ['order-1', 'order-10', 'ORDER-1', '~'].map(asGid)
const LEASE_MS = 100
const JUMPS_MS = [0, 1, 1, 50, 99, 100, 101, 1_000]

/** Plays the steps on a store with an injected clock and on the model, and compares them after every step. */
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
  /** What each owner last knew of each gid: stale as soon as somebody else has written. */
  readonly #known = new Map<string, { token: string; version: number }>()
  readonly #lastWrites = new Map<number, NewTransaction | TransactionUpdate>()

  constructor(open: ConformanceOptions['open'], place: string) {
    this.#openStore = () => open({ now: () => this.#model.now, place })
  }

  async open(): Promise<void> {
    this.#opened = await this.#openStore()
  }

  async close(): Promise<void> {
    await this.#opened?.close()
  }

  get #store(): Store {
    assert.ok(this.#opened !== undefined)
    return this.#opened
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
      () => this.#pass(amount),
      () => this.#purge(),
      () => this.#reopen(amount),
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
    const expected = this.#model.create(transaction)
    const result = await this.#store.create(transaction)
    assert.equal(result.type, expected)
    const row = this.#model.rows.get(transaction.gid)
    if (result.type === 'created') assert.equal(result.createdAt, row?.createdAt)
    else assert.deepEqual([result.digest, result.status], [row?.digest, row?.status])
    return expected
  }

  async #update(gid: string, key: string, owner: number, amount: number): Promise<void> {
    const known = this.#known.get(key)
    if (known === undefined) return
    const hold = this.#hold(amount)
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
    }
    this.#lastWrites.set(owner, update)
    await this.#sendUpdate(update, key)
  }

  /** As a node does that does not hold the row: it reads first, and so makes its owner's version stale. */
  async #command(gid: string, key: string, owner: number, amount: number): Promise<void> {
    const row = this.#model.rows.get(gid)
    if (row !== undefined) this.#known.set(key, { token: row.token, version: row.version })
    await this.#update(gid, key, owner, amount)
  }

  #hold(amount: number): UpdateHold {
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
    const expected = this.#model.update(update)
    const result = await this.#store.update(update)
    assert.equal('version' in result ? `${result.type} ${result.version}` : result.type, expected)
    if (result.type === 'saved') this.#known.set(key, { token: update.token, version: result.version })
  }

  async #repeat(owner: number, key: string): Promise<void> {
    const write = this.#lastWrites.get(owner)
    if (write === undefined) return
    if ('version' in write) await this.#sendUpdate(write, key)
    else await this.#sendCreate(write)
  }

  async #claim(gid: string, key: string): Promise<void> {
    const token = drawToken()
    const expected = this.#model.claim(gid, token, LEASE_MS)
    const result = await this.#store.claim({ gid: asGid(gid), token, leaseMs: LEASE_MS, formatMax: FORMAT })
    assert.equal(result.type === 'refused' ? result.reason : result.type, expected)
    if (result.type === 'claimed') this.#known.set(key, result.transaction)
  }

  async #claimDue(owner: number, limit: number): Promise<void> {
    const tokens = drawTokens(limit)
    const due = this.#model.due()
    const oldest = due.slice(0, limit).map((row) => row.dueAt)
    const { claimed } = await this.#store.claimDue({ limit, leaseMs: LEASE_MS, tokens, formatMax: FORMAT })
    const instants = claimed.map(({ gid }) => due.find((row) => row.gid === gid)?.dueAt)
    assert.deepEqual(instants, oldest)
    for (const { gid, token, version } of claimed) {
      assert.ok(tokens.includes(token))
      assert.equal(this.#model.claim(gid, token, LEASE_MS), 'claimed')
      this.#known.set(`${owner} ${gid}`, { token, version })
    }
  }

  async #renew(owner: number): Promise<void> {
    const leases = GIDS.flatMap((gid) => {
      const known = this.#known.get(`${owner} ${gid}`)
      return known === undefined ? [] : [{ gid, token: known.token }]
    })
    const expected = leases.map(({ gid, token }) => [gid, this.#model.renew(gid, token, LEASE_MS)])
    const { renewed, lost } = await this.#store.renew(leases, LEASE_MS)
    const versions = new Map(renewed.map(({ gid, version }) => [gid, version]))
    assert.deepEqual(
      leases.map(({ gid }) => [gid, lost.includes(gid) ? 'lost' : versions.get(gid)]),
      expected,
    )
  }

  async #pass(amount: number): Promise<void> {
    this.#model.now += JUMPS_MS[amount] ?? 0
  }

  async #purge(): Promise<void> {
    const purged = this.#model.purgeable()
    this.#model.purge()
    assert.deepEqual(await this.#store.purgeFinished(10), { purged })
  }

  async #reopen(amount: number): Promise<void> {
    // One in eight: to open a durable store is dear.
    if (amount > 0 || !this.#store.capabilities.durable) return
    await this.#store.close()
    await this.open()
    for (const row of await this.#store.readMany(GIDS)) if (!row.owned) this.#model.voidLease(row.gid)
  }

  async #compare(): Promise<void> {
    const rows = await this.#store.readMany(GIDS)
    assert.deepEqual(new Map(rows.map((row) => [row.gid, row])), new Map(this.#model.rows))
    const { items } = await this.#store.list({ limit: 10 })
    assert.deepEqual(
      items.map((item) => item.gid),
      this.#model.newestFirst(),
    )
    const { unfinished } = await this.#store.stats()
    const live = [...this.#model.rows.values()].filter((row) => row.status !== 'failed').length
    assert.equal(unfinished.prepared + unfinished.submitted + unfinished.aborting, live)
  }
}
