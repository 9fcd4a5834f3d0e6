import assert from 'node:assert/strict'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  asGid,
  assertRaised,
  aTransaction,
  claimDueGids,
  createRow,
  drawToken,
  drawTokens,
  FORMAT,
  makeDigest,
  makeUpdate,
  read,
  saveRow,
} from './transactions.ts'

export function concurrencySuite(test: DefineTest): void {
  test('Exactly one of twenty creates of one gid is made', async (store) => {
    const attempts = Array.from({ length: 20 }, (_, i) =>
      aTransaction('a', { definition: `d${i}`, digest: makeDigest(String(i % 10)) }),
    )
    const results = await Promise.all(attempts.map((attempt) => store.create(attempt)))
    const winners = attempts.filter((_, i) => results[i]?.type === 'created')
    assert.equal(winners.length, 1)
    const row = await read(store, 'a')
    assert.deepEqual([row.definition, row.token], [winners[0]?.definition, winners[0]?.token])
    for (const result of results) if (result.type === 'exists') assert.equal(result.digest, row.digest)
  })

  test('Exactly one of two updates of one version is saved', async (store) => {
    for (let i = 0; i < 20; i++) {
      const row = await createRow(store, aTransaction(`t-${i}`))
      const updates = ['left', 'right'].map((progress) => makeUpdate(row, { type: 'keep' }, { progress }))
      const results = await Promise.all(updates.map((update) => store.update(update)))
      assert.deepEqual(results.map((result) => result.type).sort(), ['conflict', 'saved'])
      const winner = updates[results.findIndex((result) => result.type === 'saved')]
      const after = await read(store, `t-${i}`)
      assert.equal(after.progress, winner?.progress)
      assertRaised(after.version, row.version)
      for (const result of results) assert.ok('version' in result && result.version === after.version)
    }
  })

  test('A write sent twice at once lands once', async (store) => {
    const transaction = aTransaction('a')
    const creates = await Promise.all([store.create(transaction), store.create(transaction)])
    assert.deepEqual(
      creates.map((result) => result.type),
      ['created', 'created'],
    )
    const row = await read(store, 'a')
    const update = makeUpdate(row, { type: 'keep' })
    const updates = await Promise.all([store.update(update), store.update(update)])
    const { version } = await read(store, 'a')
    assertRaised(version, row.version)
    for (const result of updates) assert.ok(result.type === 'saved' && result.version === version)
  })

  test('Twenty claimers take all of fifty due rows, and none twice', async (store) => {
    for (let i = 0; i < 50; i++) await createRow(store, aDueTransaction(`t-${i}`))
    const claims = Array.from({ length: 20 }, async () => {
      const gids: string[] = []
      for (let round = 0; round < 3; round++) {
        const tokens = drawTokens(4)
        const { claimed } = await store.claimDue({ limit: 4, leaseMs: 60_000, tokens, formatMax: FORMAT })
        gids.push(...claimed.map((row) => row.gid))
      }
      return gids
    })
    const raced = (await Promise.all(claims)).flat()
    // Claimers that meet may take fewer rows than there are, but in each round one of them gets all that it asked for.
    assert.ok(raced.length >= 3 * 4, `${raced.length} rows claimed`)
    const gids = [...raced, ...(await claimDueGids(store, 50, 60_000))]
    assert.equal(gids.length, 50)
    assert.equal(new Set(gids).size, 50)
  })

  test('Exactly one of twenty claims of one gid is granted', async (store) => {
    await createRow(store, aDueTransaction('a'))
    const claims = Array.from({ length: 20 }, () => ({
      gid: asGid('a'),
      token: drawToken(),
      leaseMs: 60_000,
      formatMax: FORMAT,
    }))
    const results = await Promise.all(claims.map((claim) => store.claim(claim)))
    const granted = claims.filter((_, i) => results[i]?.type === 'claimed')
    assert.equal(granted.length, 1)
    assert.equal((await read(store, 'a')).token, granted[0]?.token)
    for (const result of results) if (result.type === 'refused') assert.equal(result.reason, 'held')
  })

  test('A claim beside an update takes the row, with the update or without it', async (store) => {
    for (let i = 0; i < 20; i++) {
      const row = await createRow(store, aDueTransaction(`t-${i}`))
      const claim = { gid: row.gid, token: drawToken(), leaseMs: 60_000, formatMax: FORMAT }
      const update = makeUpdate(row, { type: 'command' }, { progress: 'commanded' })
      const [claim$, update$] = await Promise.all([store.claim(claim), store.update(update)])
      const after = await read(store, `t-${i}`)
      assert.ok(claim$.type === 'claimed')
      assert.deepEqual(claim$.transaction, after)
      assert.equal(after.token, claim.token)
      assert.equal(after.progress === 'commanded', update$.type === 'saved')
      if (update$.type === 'saved') assertRaised(update$.version, row.version)
      assertRaised(after.version, update$.type === 'saved' ? update$.version : row.version)
    }
  })

  test('Many rows at once are each written once', async (store) => {
    const gids = Array.from({ length: 300 }, (_, i) => `t-${i}`)
    await Promise.all(
      gids.map(async (gid) => {
        const row = await createRow(store, aTransaction(gid, { definition: gid }))
        const kept = await saveRow(store, makeUpdate(row, { type: 'keep' }, { progress: gid }))
        await saveRow(store, makeUpdate(kept, { type: 'finish', retentionMs: 'never' }))
      }),
    )
    const rows = await store.readMany(gids.map(asGid))
    assert.equal(rows.length, 300)
    for (const row of rows) assert.deepEqual([row.definition, row.progress], [row.gid, row.gid])
  })
}
