import assert from 'node:assert/strict'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  assertRaised,
  aTransaction,
  claimRow,
  createRow,
  drawToken,
  makeUpdate,
  purgeAll,
  read,
  saveRow,
} from './transactions.ts'

export function updateSuite(test: DefineTest): void {
  test('An update changes what it names and nothing else', async (store, fixture) => {
    const row = await createRow(store, aTransaction('a'))
    await fixture.pass(store, 20)
    const update = makeUpdate(
      row,
      { type: 'keep' },
      {
        status: 'aborting',
        format: 2,
        progress: '{"n":1}',
        retrying: true,
        attention: true,
        sentList: 'unknown',
      },
    )
    const result = await store.update(update)
    assert.ok(result.type === 'saved')
    assertRaised(result.version, row.version)
    const { token, writeId, status, format, progress, retrying, attention } = update
    const after = await read(store, 'a')
    assert.deepEqual(after, {
      ...row,
      ...{ token, writeId, status, format, progress, retrying, attention },
      sentList: 'unknown',
      version: result.version,
      updatedAt: after.updatedAt,
    })
    assert.ok(after.updatedAt >= row.updatedAt + 20 && after.updatedAt <= result.now)
  })

  test('An update without a sent list leaves that list as it is', async (store) => {
    const row = await createRow(store, aTransaction('a', { sentList: 'held' }))
    assert.equal((await saveRow(store, makeUpdate(row, { type: 'keep' }))).sentList, 'held')
  })

  test('An update under another token is fenced and touches nothing', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    for (const version of [row.version, row.version + 1]) {
      const result = await store.update(
        makeUpdate(row, { type: 'keep' }, { token: drawToken(), version, progress: 'x' }),
      )
      assert.equal(result.type, 'fenced')
    }
    assert.deepEqual(await read(store, 'a'), row)
  })

  test('An update of another version is a conflict and touches nothing', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const now = await saveRow(store, makeUpdate(row, { type: 'keep' }))
    for (const version of [row.version, now.version - 1, now.version + 1, now.version + 97]) {
      const result = await store.update(makeUpdate(now, { type: 'keep' }, { version, progress: 'x' }))
      assert.deepEqual(result, { type: 'conflict', version: now.version })
    }
    assert.deepEqual(await read(store, 'a'), now)
  })

  test('An update of a gid that does not exist is absent and creates nothing', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const gid = aTransaction('b').gid
    assert.deepEqual(await store.update(makeUpdate({ ...row, gid }, { type: 'keep' })), { type: 'absent' })
    assert.deepEqual(await store.readMany([gid]), [])
  })

  test('An update sent again with its writeId is the same write', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    for (const hold of [{ type: 'keep' }, { type: 'release', dueAt: row.createdAt }] as const) {
      const update = makeUpdate(await read(store, 'a'), hold, { progress: hold.type })
      const first = await store.update(update)
      assert.ok(first.type === 'saved')
      const kept = await read(store, 'a')
      const again = await store.update({ ...update, progress: 'must not land' })
      assert.ok(again.type === 'saved')
      assert.equal(again.version, first.version)
      assert.deepEqual(await read(store, 'a'), kept)
    }
  })

  test('A finish sent again with its writeId is the same write', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const finish = makeUpdate(row, { type: 'finish', retentionMs: 60_000 })
    const end = await saveRow(store, finish)
    const again = await store.update(finish)
    assert.ok(again.type === 'saved')
    assert.equal(again.version, end.version)
    assert.deepEqual(await read(store, 'a'), end)
  })

  test('An update sent again after a later one is a conflict', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const first = makeUpdate(row, { type: 'keep' })
    const later = await saveRow(store, makeUpdate(await saveRow(store, first), { type: 'keep' }))
    assert.deepEqual(await store.update(first), { type: 'conflict', version: later.version })
  })

  test('An update sent again after another owner has claimed the row is fenced', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const release = makeUpdate(row, { type: 'release', dueAt: row.createdAt })
    await saveRow(store, release)
    const next = await claimRow(store, 'a', 10_000)
    assert.equal((await store.update(release)).type, 'fenced')
    assert.deepEqual(await read(store, 'a'), next)
  })

  test('An update of a purged row does not bring it back', async (store, fixture) => {
    const row = await createRow(store, aTransaction('a'))
    const end = await saveRow(store, makeUpdate(row, { type: 'finish', retentionMs: fixture.retentionMs }))
    await fixture.pass(store, fixture.retentionMs)
    await purgeAll(store, ['a'], 10)
    assert.equal((await store.update(makeUpdate(end, { type: 'finish', retentionMs: 1 }))).type, 'absent')
    assert.deepEqual(await store.readMany([row.gid]), [])
  })

  test('A waiting row takes an update under its own token', async (store) => {
    const row = await createRow(store, aDueTransaction('a'))
    const after = await saveRow(store, makeUpdate(row, { type: 'keep' }, { progress: 'x' }))
    assert.deepEqual([after.owned, after.dueAt, after.progress], [false, row.dueAt, 'x'])
  })
}
