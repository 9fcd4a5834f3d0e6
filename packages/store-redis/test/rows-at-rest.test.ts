import { NEVER_AT, PARKED_AT } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { MANY_SHARDS, ShardKeys, type Shards, toSlot } from '../src/shards/shards.ts'
import { askOwner } from './ask-owner.ts'
import { eventually } from './eventually.ts'
import { listKeys, openedForTests } from './open-stores.ts'
import {
  aTransaction,
  created,
  dueTransaction,
  finished,
  hex,
  makeUpdate,
  read,
  saved,
  tokens,
} from './transactions.ts'

const GIDS = [
  'order-1',
  '{p0}',
  '}{',
  '{}',
  '{',
  '}',
  '{p1}x{p2}',
  'a:b',
  '%41',
  '*',
  '?[a-z]',
  '~'.repeat(128),
]
const MILLISECONDS_MAX = 30_000

/** Makes gids of one shard. */
function neighbours(shards: Shards, count: number): readonly string[] {
  const gids: string[] = []
  for (let i = 0; gids.length < count; i++)
    if (shards.toShard(`g-${i}`) === shards.toShard('g-0')) gids.push(`g-${i}`)
  return gids
}

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'the rows in Redis', (url) => {
    const { open, connect } = openedForTests()

    it('The store agrees with a cluster on the slots of tags and keys', async () => {
      const [connection] = await connect(url)
      if (server === 'redis') return
      for (const shard of MANY_SHARDS.all) {
        const keys = new ShardKeys('prefix', shard)
        for (const key of [keys.due, keys.row('{p0}'), keys.definition('}{p1}'), keys.mark('x')]) {
          expect(await connection?.cluster('KEYSLOT', key)).toBe(toSlot(shard))
        }
      }
    })

    it('Unfinished data never has a time to live, and finished data has one unless it is kept for ever', async () => {
      const { store, keyPrefix } = await open(url)
      for (let i = 0; i < 20; i++) {
        await finished(store, `end-${i}`, 60_000)
        await finished(store, `for-ever-${i}`, 'never')
        const row = await created(store, aTransaction(`live-${i}`))
        await store.renew([row], 60_000)
        const kept = await saved(
          store,
          makeUpdate(row, { type: 'keep' }, { status: 'aborting', attention: true }),
        )
        await saved(store, makeUpdate(kept, { type: 'release', dueAt: 1 }))
      }
      await store.claimDue({ limit: 10, leaseMs: 60_000, tokens: tokens(10), formatMax: 1 })
      const connections = await connect(url)
      const keys = await listKeys(connections, keyPrefix)
      const ends = keys.filter((key) => /:[td]:end-/.test(key))
      expect(ends).toHaveLength(40)
      for (const key of keys) {
        if (key.includes(':mark:')) continue
        const ttlMs = Number(await askOwner(connections, 'PTTL', key))
        if (ends.includes(key)) expect(ttlMs).toBeGreaterThan(60_000 - MILLISECONDS_MAX)
        else expect([key, ttlMs]).toEqual([key, -1])
      }
    })

    it('A gid is accepted again while the definition of its expired row is still there', async () => {
      const { store, keysFor } = await open(url)
      const connections = await connect(url)
      const gid = 'again' as Gid
      const definitionKey = keysFor(gid).definition(gid)
      await finished(store, gid, 1)
      await eventually('its row is gone', async () => (await store.readMany([gid])).length === 0)
      // The old definition is written again, so that it is there however long this test has waited.
      await askOwner(connections, 'SET', definitionKey, '"old"', 'PX', 60_000)
      await created(store, aTransaction(gid, { definition: '"new"' }))
      expect((await read(store, gid)).definition).toBe('"new"')
      expect(await askOwner(connections, 'PTTL', definitionKey)).toBe(-1)
    })

    it('All keys of a shard are under its tag, and every key is under the prefix', async () => {
      const { store, keyPrefix, keysFor } = await open(url)
      for (const gid of GIDS) await created(store, aTransaction(gid))
      const keys = await listKeys(await connect(url), keyPrefix)
      expect(keys.length).toBeGreaterThanOrEqual(GIDS.length * 2)
      for (const key of keys)
        expect(key).toMatch(
          /^[^{}]+:\{p\d+\}:(due|created|done|counts|waiting|problems|shards|t:.+|d:.+|mark:[0-9a-f-]+)$/,
        )
      for (const gid of GIDS) expect(keys).toContain(keysFor(gid).row(gid))
    })

    it('Hostile gids and payloads are kept exactly, through every operation', async () => {
      const { store } = await open(url)
      const text = `{"a":"{p0}"}\n1 0 0\r\n*1\r\n$4\r\nPING\r\n ' " \\ ; \u0000 é 💶 =5`
      for (const gid of GIDS) {
        await created(store, { ...dueTransaction(gid), definition: text, progress: text })
        const claim = { gid: gid as Gid, token: tokens(1)[0] ?? '', leaseMs: 10_000, formatMax: 1 }
        expect(await store.claim(claim)).toMatchObject({
          type: 'claimed',
          transaction: { gid, definition: text },
        })
        const row = await read(store, gid)
        expect([row.definition, row.progress]).toEqual([text, text])
        expect((await store.renew([row], 10_000)).renewed).toEqual([{ gid, version: row.version }])
        await saved(store, makeUpdate(row, { type: 'release', dueAt: 1 }, { progress: `${text}${text}` }))
      }
      const { claimed } = await store.claimDue({
        limit: 100,
        leaseMs: 10_000,
        tokens: tokens(100),
        formatMax: 1,
      })
      expect(claimed.map((row) => row.gid).sort()).toEqual([...GIDS].sort())
      for (const row of claimed) expect([row.definition, row.progress]).toEqual([text, text + text])
      const { items } = await store.list({ limit: 100 })
      expect(items.map((item) => item.gid).sort()).toEqual([...GIDS].sort())
      for (const row of claimed) await saved(store, makeUpdate(row, { type: 'finish', retentionMs: 1 }))
      const purged = await eventually('all are purged', async () => (await store.purgeFinished(100)).purged)
      expect(purged).toBe(GIDS.length)
      expect((await store.list({ limit: 100 })).items).toEqual([])
    })

    it('Numbers beyond 2^31 and the last instants are kept exactly, without exponents', async () => {
      const { store, keysFor } = await open(url)
      const format = 2 ** 31 + 1
      const row = await created(store, aTransaction('a', { format }))
      const parked = await saved(
        store,
        makeUpdate(row, { type: 'release', dueAt: PARKED_AT }, { format: 2 ** 53 - 1 }),
      )
      expect(await read(store, 'a')).toMatchObject({
        format: 2 ** 53 - 1,
        dueAt: PARKED_AT,
        version: parked.version,
      })
      expect(parked.version).toBeGreaterThan(1_700_000_000_000)
      // The script computes this number, which has more digits than Lua shows by itself.
      const durationMs = 7_000_000_000_000_001
      await created(store, dueTransaction('slow', durationMs))
      const slow = await read(store, 'slow')
      expect(slow.dueAt).toBe(slow.createdAt + durationMs)
      const leased = await store.renew([await created(store, aTransaction('leased'))], durationMs)
      expect((await read(store, 'leased')).dueAt).toBe(leased.now + durationMs)
      const far = Number.MAX_SAFE_INTEGER - 1
      const numbers = { format: 2 ** 53 - 1 }
      const waiting = await saved(store, makeUpdate(parked, { type: 'command', dueAt: far }, numbers))
      expect((await read(store, 'a')).dueAt).toBe(far)
      await saved(store, makeUpdate(waiting, { type: 'finish', retentionMs: 'never' }, numbers))
      expect((await read(store, 'a')).dueAt).toBe(NEVER_AT)
      const connections = await connect(url)
      expect(await askOwner(connections, 'GET', keysFor('a').row('a'))).toMatch(
        /^1 9007199254740991 0 3 \d{13} 1 0 1 0 0 0 \d{13} \d{13} 9000000000000000 [0-9a-f]{32} [0-9a-f]{32} 0{64}\n\{\}$/,
      )
    })

    it('Every claim and update gets a version that no earlier life of the row had', async () => {
      const { store } = await open(url)
      const row = await created(store, dueTransaction('a'))
      const claim = { gid: row.gid, token: tokens(1)[0] ?? '', leaseMs: 10_000, formatMax: 1 }
      const claimed = await store.claim(claim)
      const version = claimed.type === 'claimed' ? claimed.transaction.version : 0
      const now = claimed.type === 'claimed' ? claimed.now : 0
      expect(version).toBe(now)
      const again = await store.update(makeUpdate({ ...row, token: claim.token, version }))
      expect(again).toMatchObject({ type: 'saved' })
      expect(again.type === 'saved' && again.version).toBeGreaterThan(version)
    })

    it('A claim that is sent again is the same claim', async () => {
      const { store } = await open(url)
      await created(store, dueTransaction('a'))
      const claim = { gid: 'a' as Gid, token: tokens(1)[0] ?? '', leaseMs: 10_000, formatMax: 1 }
      const first = await store.claim(claim)
      const again = await store.claim(claim)
      expect(first.type === 'claimed' && first.transaction.version).toBe(
        again.type === 'claimed' && again.transaction.version,
      )
      expect(again).toMatchObject({ type: 'claimed', transaction: { epoch: 2, claimsWithoutProgress: 1 } })
    })

    it('An expired row is forgotten everywhere, whether Redis, the purge or the next creator is first', async () => {
      const { store, keyPrefix } = await open(url)
      const gids = Array.from({ length: 30 }, (_, i) => `t-${i}` as Gid)
      for (const gid of gids) await finished(store, gid, 1)
      await created(store, aTransaction('live'))
      await eventually('Redis has expired them', async () => (await store.readMany(gids)).length === 0)
      expect((await store.list({ limit: 100 })).items.map((item) => item.gid)).toEqual(['live'])
      const row = await created(store, aTransaction('t-0', { progress: 'new' }))
      expect(await read(store, 't-0')).toMatchObject({
        version: 1,
        epoch: 1,
        progress: 'new',
        status: 'submitted',
      })
      expect(await store.purgeFinished(100)).toEqual({ purged: 29 })
      expect(await store.purgeFinished(100)).toEqual({ purged: 0 })
      await saved(store, makeUpdate(row, { type: 'finish', retentionMs: 'never' }))
      expect(await store.purgeFinished(100)).toEqual({ purged: 0 })
      const connections = await connect(url)
      const keys = await listKeys(connections, keyPrefix)
      const members = keys
        .filter((key) => /:(created|done|due)$/.test(key))
        .map((key) => askOwner(connections, 'ZCARD', key))
      // The index created has `t-0` and `live`, and the index due has `live`.
      expect((await Promise.all(members)).reduce<number>((sum, count) => sum + Number(count), 0)).toBe(3)
    })

    it('A list has more rows of one instant and one shard than a page of the scan', async () => {
      const { store, shards, keysFor } = await open(url)
      const connections = await connect(url)
      // 100 gids of one shard are all moved to one time.
      const gids = neighbours(shards, 100)
      const keys = keysFor(gids[0] ?? '')
      const { createdAt } = await read(store, (await created(store, aTransaction(gids[0] ?? ''))).gid)
      for (const gid of gids.slice(1)) await created(store, aTransaction(gid))
      for (const gid of gids) {
        await askOwner(connections, 'ZADD', keys.created, createdAt, gid)
        const text = String(await askOwner(connections, 'GET', keys.row(gid)))
        const words = text.split(' ')
        words[11] = String(createdAt)
        await askOwner(connections, 'SET', keys.row(gid), words.join(' '))
      }
      const listed: string[] = []
      let cursor: { at: number; gid: Gid } | undefined
      do {
        const page = await store.list({ limit: 7, ...(cursor && { cursor }) })
        listed.push(...page.items.map((item) => item.gid))
        cursor = page.cursor
      } while (cursor !== undefined)
      expect(listed).toEqual([...gids].sort().reverse())
    })

    it('A claim takes the oldest of all shards, also where one shard has most of them', async () => {
      const { store, shards } = await open(url)
      const crowded = neighbours(shards, 120)
      const others = Array.from({ length: 120 }, (_, i) => `o-${i}`)
      // The rows are made one after the other, so that their due times differ. Some are in another shard.
      for (const [i, gid] of crowded.entries()) {
        await created(store, dueTransaction(gid))
        if (i % 10 === 0) await created(store, dueTransaction(others[i] ?? ''))
      }
      const rows = await store.readMany([...crowded, ...others] as Gid[])
      const dueAtByGid = new Map(rows.map((row) => [row.gid, row.dueAt]))
      const waiting = rows.map((row) => row.dueAt).sort((a, b) => a - b)
      while (waiting.length > 0) {
        const claim = { limit: 50, leaseMs: 60_000, tokens: tokens(50), formatMax: 1 }
        const { claimed } = await store.claimDue(claim)
        expect(claimed.map((row) => dueAtByGid.get(row.gid))).toEqual(waiting.splice(0, 50))
      }
    })

    it('Rows that a newer version wrote are left alone, however many, and those behind them are claimed', async () => {
      const { store, keysFor } = await open(url)
      const connections = await connect(url)
      const strange = Array.from({ length: 1_500 }, (_, i) => `n-${i}`)
      await Promise.all(strange.map((gid) => store.create({ ...dueTransaction(gid), format: 2 })))
      for (const [gid, word, value] of [
        ['kind', 2, '9'],
        ['sent', 7, '7'],
        ['layout', 0, '3'],
      ] as const) {
        await created(store, dueTransaction(gid))
        const words = String(await askOwner(connections, 'GET', keysFor(gid).row(gid))).split(' ')
        words[word] = value
        await askOwner(connections, 'SET', keysFor(gid).row(gid), words.join(' '))
      }
      const known = Array.from({ length: 30 }, (_, i) => `k-${i}`)
      for (const gid of known) await created(store, dueTransaction(gid))
      const { claimed } = await store.claimDue({
        limit: 100,
        leaseMs: 60_000,
        tokens: tokens(100),
        formatMax: 1,
      })
      expect(claimed.map((row) => row.gid).sort()).toEqual([...known].sort())
      const refusal = { gid: 'kind' as Gid, token: tokens(1)[0] ?? '', leaseMs: 1_000, formatMax: 1 }
      expect(await store.claim(refusal)).toEqual({ type: 'refused', reason: 'format' })
      await expect(store.claim({ ...refusal, gid: 'layout' as Gid })).rejects.toMatchObject({
        code: 'SAGA_INTERNAL',
      })
      // The poisoned row fails only calls that ask for it.
      expect(await read(store, 'k-0')).toMatchObject({ epoch: 2 })
      const asked = ['k-1', 'kind', 'sent', 'layout', 'k-2'] as Gid[]
      expect((await store.readMany(asked)).map(({ gid }) => gid).sort()).toEqual(['k-1', 'k-2'])
      await expect(store.readMany(['kind' as Gid])).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
      expect((await store.list({ limit: 5 })).items).toHaveLength(5)
    })

    it('A row that Redis cannot write fails alone, wherever it is in its group', async () => {
      const { store, keysFor } = await open(url)
      const connections = await connect(url)
      const bad = ['wrong-1', 'wrong-2', 'wrong-3']
      for (const gid of bad) await askOwner(connections, 'RPUSH', keysFor(gid).row(gid), 'no text')
      const rows = ['wrong-1', 'good-1', 'wrong-2', 'good-2', 'good-3', 'wrong-3']
      const creates = await Promise.allSettled(rows.map((gid) => store.create(aTransaction(gid))))
      expect(creates.map(({ status }) => status)).toEqual(
        rows.map((gid) => (bad.includes(gid) ? 'rejected' : 'fulfilled')),
      )
      const written = await Promise.all(
        rows.map(async (gid) =>
          bad.includes(gid) ? { gid: gid as Gid, token: hex(16), version: 1 } : read(store, gid),
        ),
      )
      const updates = await Promise.allSettled(
        written.map((row) => store.update(makeUpdate(row, { type: 'finish', retentionMs: 'never' }))),
      )
      expect(
        updates.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.type : outcome.reason.code)),
      ).toEqual(rows.map((gid) => (bad.includes(gid) ? 'SAGA_INTERNAL' : 'saved')))
      expect((await store.stats()).unfinished.submitted).toBe(0)
    })

    it('A row that cannot be written fails alone', async () => {
      const { store } = await open(url)
      const poisons = [
        { progress: null },
        { format: 1.5 },
        { token: 'a b' },
        { digest: 'a\nb' },
        { definition: 7 },
      ]
      const bad = poisons.map((poison, i) =>
        store.create({ ...aTransaction(`bad-${i}`), ...poison } as unknown as ReturnType<
          typeof aTransaction
        >),
      )
      const good = store.create(aTransaction('good'))
      for (const create of bad) await expect(create).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
      expect(await good).toMatchObject({ type: 'created' })
      expect((await store.list({ limit: 10 })).items).toHaveLength(1)
    })
  })
}
