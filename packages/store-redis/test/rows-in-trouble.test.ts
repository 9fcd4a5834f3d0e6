import { MARKS, PARKED_AT, type Store, type TransactionUpdate } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { askOwner } from './ask-owner.ts'
import { eventually } from './eventually.ts'
import { openedForTests } from './open-stores.ts'
import {
  aTransaction,
  created,
  dueTransaction,
  makeUpdate,
  read,
  saved,
  tokens,
  type Written,
} from './transactions.ts'

const NAMED = { name: 'transfer', tags: { region: 'eu west\t% %20', 'owner.id': 'é💶\u2028~' } }
/** All of them together are far longer than the head of a row that has none. */
const LONG = {
  name: 'n'.repeat(64),
  tags: Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`${'k'.repeat(31)}${i}`, '€'.repeat(64)])),
}
const TROUBLE = { problem: 'bank-a:/debit action 500', attempts: 7, marks: MARKS, retrying: true } as const
const LONG_PROBLEM = '€'.repeat(255)

async function readCounts(store: Store) {
  const { attention, paused, byHand, problems } = await store.stats()
  const counts = problems.map(({ problem, waiting, attention }) => [problem, waiting, attention])
  return { attention, paused, byHand, problems: counts }
}

const NOTHING = { attention: 0, paused: 0, byHand: 0, problems: [] }

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'rows with a name, tags or a problem', (url) => {
    const { open, connect } = openedForTests()

    it('A row has the second layout only while it has a word for it', async () => {
      const { store, keysFor } = await open(url)
      const connections = await connect(url)
      const layoutOf = async (gid: string) =>
        String(await askOwner(connections, 'GETRANGE', keysFor(gid).row(gid), 0, 1))
      const plain = await created(store, aTransaction('plain', { tags: {} }))
      const named = await created(store, aTransaction('named', NAMED))
      expect([await layoutOf('plain'), await layoutOf('named')]).toEqual(['1 ', '2 '])
      const inTrouble = await saved(store, makeUpdate(plain, { type: 'keep' }, TROUBLE))
      expect(await read(store, 'plain')).toMatchObject(TROUBLE)
      expect(await layoutOf('plain')).toBe('2 ')
      await saved(store, makeUpdate(inTrouble))
      await saved(store, makeUpdate(named, { type: 'finish', retentionMs: 60_000 }))
      expect([await layoutOf('plain'), await layoutOf('named')]).toEqual(['1 ', '2 '])
      expect(await read(store, 'named')).toMatchObject(NAMED)
    })

    it('The longest words are kept exactly, through every operation', async () => {
      const { store } = await open(url)
      const row = await created(store, { ...dueTransaction('a'), ...LONG, progress: 'progress\n€' })
      const [token = '', next = ''] = tokens(2)
      const claim = { gid: row.gid, token, leaseMs: 60_000, formatMax: 1 }
      const claimed = await store.claim(claim)
      expect(claimed).toMatchObject({ type: 'claimed', transaction: { ...LONG, progress: 'progress\n€' } })
      const version = claimed.type === 'claimed' ? claimed.transaction.version : 0
      const words = { ...TROUBLE, problem: LONG_PROBLEM, progress: 'more\n' }
      const kept = await saved(store, makeUpdate({ ...row, token, version }, { type: 'keep' }, words))
      expect((await store.renew([kept], 60_000)).renewed).toEqual([{ gid: 'a', version: kept.version }])
      await saved(store, makeUpdate(kept, { type: 'release', dueAt: 1 }, words))
      expect(await store.postponeDue({ limit: 1, byMs: 1, formatMax: 1 })).toMatchObject({ gids: ['a'] })
      const claimDue = { limit: 1, leaseMs: 60_000, tokens: [next], formatMax: 1 }
      // Under the same token a claim that is sent again is the same claim.
      const due = await eventually(
        'it is due',
        () => store.claimDue(claimDue),
        ({ claimed }) => claimed.length > 0,
      )
      expect(due.claimed).toMatchObject([{ ...LONG, ...words }])
      expect((await store.list({ limit: 1, ...LONG, problem: LONG_PROBLEM })).items).toHaveLength(1)
      const twice = await store.create(aTransaction('a'))
      expect(twice).toMatchObject({ type: 'exists', digest: '0'.repeat(64) })
      const [claimedRow] = due.claimed
      expect(claimedRow).toBeDefined()
      const last = { gid: row.gid, token: next, version: claimedRow?.version ?? 0 }
      await saved(store, makeUpdate(last, { type: 'finish', retentionMs: 'never' }))
      const { problem, attempts, marks, ...rest } = await read(store, 'a')
      expect(rest).toMatchObject({ ...LONG, status: 'succeeded' })
      expect([problem, attempts, marks]).toEqual([undefined, undefined, undefined])
    })

    it('Words that are too long for a head are refused before they are written', async () => {
      const { store } = await open(url)
      const tags = { a: '€'.repeat(900) }
      await expect(store.create(aTransaction('a', { tags }))).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
      const row = await created(store, aTransaction('a'))
      const update = makeUpdate(row, { type: 'keep' }, { problem: 'p'.repeat(2_401) })
      await expect(store.update(update)).rejects.toMatchObject({ code: 'SAGA_INTERNAL' })
      await saved(store, makeUpdate(row))
    })

    it('Rows are counted under their problem for as long as they have it, also where a write is sent twice', async () => {
      const { store, keysFor } = await open(url)
      const connections = await connect(url)
      const twice = async (update: TransactionUpdate): Promise<Written> => {
        const first = await saved(store, update)
        expect(await saved(store, update)).toEqual(first)
        return first
      }
      const rows = await Promise.all(['a', 'b', 'c'].map((gid) => created(store, aTransaction(gid))))
      const [a, b, c] = rows as [Written, Written, Written]
      const a2 = await twice(makeUpdate(a, { type: 'keep' }, { ...TROUBLE, attention: true }))
      const b2 = await twice(
        makeUpdate(b, { type: 'release', dueAt: PARKED_AT }, { problem: TROUBLE.problem }),
      )
      expect(await readCounts(store)).toEqual({
        ...{ attention: 1, paused: 1, byHand: 1 },
        problems: [[TROUBLE.problem, 2, 1]],
      })
      const a3 = await twice(makeUpdate(a2, { type: 'keep' }, { problem: 'other words', attention: true }))
      await twice(makeUpdate(c, { type: 'command' }, { marks: ['by-hand'] }))
      expect(await readCounts(store)).toEqual({
        ...{ attention: 1, paused: 0, byHand: 1 },
        problems: [
          [TROUBLE.problem, 1, 0],
          ['other words', 1, 1],
        ],
      })
      await twice(makeUpdate(b2, { type: 'finish', retentionMs: 60_000 }, { problem: TROUBLE.problem }))
      await twice(makeUpdate(a3))
      expect(await readCounts(store)).toEqual({ ...NOTHING, byHand: 1 })
      for (const gid of ['a', 'b', 'c']) {
        expect(await askOwner(connections, 'HLEN', keysFor(gid).problems)).toBe(0)
      }
    })

    it('The oldest unfinished row is found beside what older code has left, which is removed', async () => {
      const { store, keysFor } = await open(url)
      const connections = await connect(url)
      const live = await read(store, (await created(store, aTransaction('live'))).gid)
      const { waiting } = keysFor('live')
      for (let i = 0; i < 120; i++) {
        // Such a member is left by a finish of code that does not know the index.
        await askOwner(connections, 'ZADD', waiting, '0', ` ${String(i).padStart(16, '0')} gone-${i}`)
      }
      expect((await store.stats()).oldestUnfinishedAt).toBe(live.createdAt)
      expect(await askOwner(connections, 'ZCARD', waiting)).toBe(0)
      const paused = await saved(store, makeUpdate(live, { type: 'keep' }, { marks: ['paused'] }))
      expect(await store.stats()).not.toHaveProperty('oldestUnfinishedAt')
      const resumed = await saved(store, makeUpdate(paused, { type: 'release', dueAt: PARKED_AT }))
      expect((await store.stats()).oldestUnfinishedAt).toBe(live.createdAt)
      await saved(store, makeUpdate(resumed, { type: 'finish', retentionMs: 'never' }))
      expect(await askOwner(connections, 'ZCARD', waiting)).toBe(0)
    })

    it('Parked rows of one shard are listed page by page, at either end of the due instants', async () => {
      const { store, shards } = await open(url)
      const gids: Gid[] = []
      for (let i = 0; gids.length < 100; i++)
        if (shards.toShard(`g-${i}`) === shards.toShard('g-0')) gids.push(`g-${i}` as Gid)
      for (const gid of gids) {
        await saved(
          store,
          makeUpdate(await created(store, aTransaction(gid)), { type: 'release', dueAt: PARKED_AT }),
        )
      }
      const sorted = [...gids].sort()
      for (const [order, expected] of [
        ['due', sorted],
        ['due-last', [...sorted].reverse()],
      ] as const) {
        const listed: string[] = []
        for (let page = await store.list({ limit: 7, order }); ; ) {
          listed.push(...page.items.map(({ gid }) => gid))
          const { cursor } = page
          if (cursor === undefined) break
          page = await store.list({ limit: 7, order, cursor })
        }
        expect(listed).toEqual(expected)
      }
    })
  })
}
