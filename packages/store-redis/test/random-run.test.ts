import type { StoredTransaction, UpdateHold } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describeOn } from '@counterstep/test-servers/vitest'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ShardKeys } from '../src/shards/shards.ts'
import { askOwner } from './ask-owner.ts'
import { type OpenedStore, openedForTests } from './open-stores.ts'
import { aTransaction, hex, makeUpdate, tokens } from './transactions.ts'

// The conformance suite's random run sets the clock, which a server does not allow. So this run does not predict the
// answer of each step, but checks that rows and indexes agree after any number of concurrent steps of two stores.
const GIDS = Array.from({ length: 6 }, (_, i) => `g-${i}` as Gid)
const HOLDS: readonly UpdateHold[] = [
  { type: 'keep' },
  { type: 'release', dueAt: 0 },
  { type: 'command' },
  { type: 'command', dueAt: 1 },
  { type: 'finish', retentionMs: 1 },
  { type: 'finish', retentionMs: 'never' },
]
const ACTIONS = 8
const AT_ONCE = 8

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'random steps at once', (url) => {
    const { open, connect } = openedForTests()

    it('Random steps at once leave rows and indexes in agreement', { timeout: 120_000 }, async () => {
      const connections = await connect(url)
      const command = fc.tuple(
        fc.nat(ACTIONS - 1),
        fc.nat(GIDS.length - 1),
        fc.nat(HOLDS.length - 1),
        fc.nat(1),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 80, size: 'max' }), async (steps) => {
          const opened = await open(url)
          const { store: left, keyPrefix } = opened
          const stores = [left, (await open(url, { keyPrefix })).store]
          const known = new Map<Gid, StoredTransaction>()
          const learn = (row: StoredTransaction | undefined) => row && known.set(row.gid, row)
          async function step([what, gidIndex, holdIndex, storeIndex]: readonly number[]): Promise<void> {
            const store = stores[storeIndex ?? 0] ?? left
            const gid = GIDS[gidIndex ?? 0] ?? ('g-0' as Gid)
            const row = known.get(gid)
            const hold = HOLDS[holdIndex ?? 0] ?? { type: 'keep' }
            if (what === 0) await store.create(aTransaction(gid, { hold: { type: 'waiting', dueInMs: 0 } }))
            if (what === 1) learn((await store.readMany([gid]))[0])
            if ((what === 2 || what === 3) && row !== undefined) {
              const status = hold.type === 'finish' ? 'failed' : 'aborting'
              await store.update(makeUpdate(row, hold, { status, attention: what === 3 }))
            }
            if (what === 4) {
              const claim = await store.claim({ gid, token: hex(16), leaseMs: 1, formatMax: 1 })
              if (claim.type === 'claimed') learn(claim.transaction)
            }
            if (what === 5) {
              const due = await store.claimDue({ limit: 2, leaseMs: 1, tokens: tokens(2), formatMax: 1 })
              for (const claimed of due.claimed) learn(claimed)
            }
            if (what === 6) await store.purgeFinished(3)
            if (what === 7) await store.postponeDue({ limit: 2, byMs: 1, formatMax: 1 })
          }
          for (let i = 0; i < steps.length; i += AT_ONCE)
            await Promise.all(steps.slice(i, i + AT_ONCE).map(step))
          await expectAgreement(opened)
          for (const store of stores) await store.close()
        }),
        { numRuns: 60 },
      )

      async function expectAgreement({ store, keyPrefix, shards }: OpenedStore): Promise<void> {
        const rows = await store.readMany(GIDS)
        const live = rows.filter((row) => row.status !== 'failed')
        const { unfinished, attention } = await store.stats()
        const count = (status: string) => live.filter((row) => row.status === status).length
        expect(unfinished).toEqual({
          prepared: 0,
          submitted: count('submitted'),
          aborting: count('aborting'),
        })
        expect(attention).toBe(live.filter((row) => row.attention).length)
        for (const shard of shards.all) {
          const mine = (some: readonly StoredTransaction[]) =>
            some.flatMap((row) => (shards.toShard(row.gid) === shard ? [row.gid, String(row.dueAt)] : []))
          if (!GIDS.some((gid) => shards.toShard(gid) === shard)) continue
          const due = await scored(keyPrefix, shard, 'due')
          expect(sorted(due)).toEqual(sorted(mine(live)))
          const created = (await scored(keyPrefix, shard, 'created')).filter((_, i) => i % 2 === 0)
          for (const row of rows) if (shards.toShard(row.gid) === shard) expect(created).toContain(row.gid)
          // Expired rows may still be there, but no live row, and no row that is kept for ever.
          const done = (await scored(keyPrefix, shard, 'done')).filter((_, i) => i % 2 === 0)
          for (const gid of done) expect(live.map((row) => row.gid)).not.toContain(gid)
          for (const gid of created) {
            expect(rows.some((row) => row.gid === gid) || done.includes(gid)).toBe(true)
          }
        }
      }

      async function scored(
        keyPrefix: string,
        shard: number,
        index: 'due' | 'created' | 'done',
      ): Promise<string[]> {
        const key = new ShardKeys(keyPrefix, shard)[index]
        const pairs = await askOwner(connections, 'ZRANGE', key, 0, -1, 'WITHSCORES')
        return (pairs as readonly [string, string][]).flat()
      }
    })
  })
}

function sorted(pairs: readonly string[]): readonly string[] {
  return Array.from({ length: pairs.length / 2 }, (_, i) => `${pairs[i * 2]} ${pairs[i * 2 + 1]}`).sort()
}
