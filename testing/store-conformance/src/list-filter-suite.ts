import assert from 'node:assert/strict'
import type { ListQuery, Store } from '@counterstep/core'
import { readAllPages } from './read-all-pages.ts'
import type { DefineTest } from './store-fixture.ts'
import { aTransaction, createRow, finishRow, makeUpdate, saveRow } from './transactions.ts'

async function findGids(store: Store, filter: Partial<ListQuery>): Promise<readonly string[]> {
  const items = await readAllPages(store, { limit: 3, ...filter })
  return items.map((item) => item.gid as string).sort()
}

async function expectFound(
  store: Store,
  rows: readonly (readonly [filter: Partial<ListQuery>, gids: readonly string[]])[],
): Promise<void> {
  for (const [filter, gids] of rows)
    assert.deepEqual(await findGids(store, filter), gids, JSON.stringify(filter))
}

export function listFilterSuite(test: DefineTest): void {
  test('A list finds rows by their whole name', async (store) => {
    const names = { a: 'transfer', b: 'Transfer', c: 'transfer/eu', d: 't%r', e: 'transfe_' } as const
    for (const [gid, name] of Object.entries(names)) await createRow(store, aTransaction(gid, { name }))
    await createRow(store, aTransaction('none'))
    await expectFound(store, [
      [{ name: 'transfer' }, ['a']],
      [{ name: 'Transfer' }, ['b']],
      [{ name: 'transfer/eu' }, ['c']],
      [{ name: 't%r' }, ['d']],
      [{ name: 'transfe_' }, ['e']],
      [{ name: 'transfer ' }, []],
      [{ name: '' }, []],
      [{ name: "'; --" }, []],
      [{}, ['a', 'b', 'c', 'd', 'e', 'none']],
    ])
  })

  test('A list finds rows that have all the tags', async (store) => {
    await createRow(store, aTransaction('a', { tags: { region: 'eu', tier: '2' } }))
    await createRow(store, aTransaction('b', { tags: { region: 'eu2', tier: '2' } }))
    await createRow(store, aTransaction('c', { tags: { region: 'EU', 'x-region': 'eu', 'x.y': 'z:eu' } }))
    await createRow(store, aTransaction('d', { tags: { q: `%_\\'"|,` } }))
    await createRow(store, aTransaction('none'))
    await expectFound(store, [
      [{ tags: { region: 'eu' } }, ['a']],
      [{ tags: { tier: '2' } }, ['a', 'b']],
      [{ tags: { tier: '2', region: 'eu2' } }, ['b']],
      [{ tags: { tier: '2', region: 'EU' } }, []],
      [{ tags: { region: 'e' } }, []],
      [{ tags: { 'x-region': 'eu' } }, ['c']],
      [{ tags: { 'x.y': 'z:eu' } }, ['c']],
      [{ tags: { 'x.y': 'eu' } }, []],
      [{ tags: { q: `%_\\'"|,` } }, ['d']],
      [{ tags: { q: '%' } }, []],
      [{ tags: {} }, ['a', 'b', 'c', 'd', 'none']],
    ])
  })

  test('A list finds rows by their problem and their marks', async (store) => {
    const troubles = {
      a: { problem: 'bank-a compensate 500', marks: ['paused'] },
      b: { problem: 'bank-a compensate 50', marks: ['paused', 'edited'] },
      c: { problem: '– no-progress', marks: ['edited', 'by-hand'] },
      d: {},
    } as const
    for (const [gid, trouble] of Object.entries(troubles)) {
      const row = await createRow(store, aTransaction(gid))
      await saveRow(store, makeUpdate(row, { type: 'keep' }, trouble))
    }
    await expectFound(store, [
      [{ problem: 'bank-a compensate 500' }, ['a']],
      [{ problem: 'bank-a compensate 50' }, ['b']],
      [{ problem: 'BANK-A compensate 50' }, []],
      [{ problem: '– no-progress' }, ['c']],
      [{ problem: '%' }, []],
      [{ marks: ['paused'] }, ['a', 'b']],
      [{ marks: ['edited', 'paused'] }, ['b']],
      [{ marks: ['by-hand'] }, ['c']],
      [{ marks: [] }, ['a', 'b', 'c', 'd']],
      [{ problem: 'bank-a compensate 50', marks: ['edited'] }, ['b']],
    ])
  })

  test('A list finds rows by the beginning of their gid, of which no character is special', async (store) => {
    const gids = [
      'order-1',
      'order-10',
      'Order-1',
      'order%',
      'order_1',
      'o*',
      'o[a-z]',
      '~',
      '!',
      'x'.repeat(128),
    ]
    for (const gid of gids) await createRow(store, aTransaction(gid))
    const startingWith = (prefix: string) => gids.filter((gid) => gid.startsWith(prefix)).sort()
    const prefixes = ['order-1', 'order', 'Order', 'order%', 'order_', 'o*', 'o[', 'x', '~', '!']
    const strange = ['%', '_', '\\', "'", '"', `' OR 1=1 --`, '\u{1f600}', 'ä', `${'x'.repeat(128)}y`]
    await expectFound(
      store,
      [...prefixes, ...strange, ''].map((gidPrefix) => [{ gidPrefix }, startingWith(gidPrefix)]),
    )
  })

  test('Filters are combined, and finished rows are found by them too', async (store) => {
    await createRow(store, aTransaction('order-1', { name: 'transfer', tags: { region: 'eu' } }))
    await createRow(
      store,
      aTransaction('order-2', { name: 'transfer', tags: { region: 'us' }, kind: 'message' }),
    )
    const row = await createRow(store, aTransaction('order-3', { name: 'transfer', tags: { region: 'eu' } }))
    const finish = { type: 'finish', retentionMs: 'never' } as const
    await saveRow(store, makeUpdate(row, finish, { marks: ['by-hand'] }))
    await finishRow(store, 'end', 'never')
    await expectFound(store, [
      [{ name: 'transfer', tags: { region: 'eu' } }, ['order-1', 'order-3']],
      [{ name: 'transfer', gidPrefix: 'order', kind: 'message' }, ['order-2']],
      [{ name: 'transfer', status: ['succeeded'] }, ['order-3']],
      [{ marks: ['by-hand'], tags: { region: 'eu' }, name: 'transfer' }, ['order-3']],
      [{ marks: ['by-hand'], tags: { region: 'us' } }, []],
    ])
  })
}
