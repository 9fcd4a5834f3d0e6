import assert from 'node:assert/strict'
import { RENEW_MAX } from '@counterstep/core'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  asGid,
  aTransaction,
  BRIEF_LEASE_MS,
  claimDueGids,
  createRow,
  drawToken,
  makeUpdate,
  read,
  rejectsWith,
  saveRow,
} from './transactions.ts'

export function renewSuite(test: DefineTest): void {
  test('A renewal moves the lease end and changes nothing else', async (store, fixture) => {
    const row = await createRow(store, aTransaction('a'))
    await fixture.pass(store, 20)
    const assertWithin = await fixture.startSpan(store)
    const result = await store.renew([{ gid: row.gid, token: row.token }], 30_000)
    assert.deepEqual(result.renewed, [{ gid: 'a', version: row.version }])
    assert.deepEqual(result.lost, [])
    const { dueAt } = await read(store, 'a')
    assert.deepEqual(await read(store, 'a'), { ...row, dueAt })
    await assertWithin(result.now, dueAt - 30_000)
  })

  test('A renewed lease does not end at its former time', async (store, fixture) => {
    const row = await createRow(
      store,
      aTransaction('a', { hold: { type: 'owned', leaseMs: BRIEF_LEASE_MS } }),
    )
    await store.renew([{ gid: row.gid, token: row.token }], 3_600_000)
    await fixture.pass(store, BRIEF_LEASE_MS)
    assert.deepEqual(await claimDueGids(store, 10), [])
  })

  test('A renewal returns the present version, so an owner learns of a command', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const { version } = await saveRow(store, makeUpdate(row, { type: 'command' }))
    const { renewed } = await store.renew([{ gid: row.gid, token: row.token }], 1_000)
    assert.deepEqual(renewed, [{ gid: 'a', version }])
  })

  test('A renewal tells kept leases from lost ones', async (store) => {
    const kept = await createRow(store, aTransaction('kept'))
    const other = await createRow(store, aTransaction('other-token'))
    const waiting = await createRow(store, aDueTransaction('released'))
    const leases = [
      { gid: kept.gid, token: kept.token },
      { gid: other.gid, token: drawToken() },
      { gid: waiting.gid, token: waiting.token },
      { gid: asGid('gone'), token: drawToken() },
    ]
    const { renewed, lost } = await store.renew(leases, 1_000)
    assert.deepEqual(
      renewed.map((lease) => lease.gid),
      ['kept'],
    )
    assert.deepEqual([...lost].sort(), ['gone', 'other-token', 'released'])
    assert.deepEqual(await read(store, 'released'), waiting)
  })

  test('An ended lease is renewed if no other owner has claimed the row', async (store, fixture) => {
    const row = await createRow(
      store,
      aTransaction('a', { hold: { type: 'owned', leaseMs: BRIEF_LEASE_MS } }),
    )
    await fixture.pass(store, BRIEF_LEASE_MS)
    const { renewed } = await store.renew([{ gid: row.gid, token: row.token }], 10_000)
    assert.equal(renewed.length, 1)
    assert.deepEqual(await claimDueGids(store, 10), [])
  })

  test('A renewal of no leases does nothing, and one of more than RENEW_MAX is a bug', async (store) => {
    const { renewed, lost } = await store.renew([], 1_000)
    assert.deepEqual([renewed, lost], [[], []])
    const leases = Array.from({ length: RENEW_MAX + 1 }, () => ({ gid: asGid('a'), token: drawToken() }))
    await rejectsWith('SAGA_INTERNAL', () => store.renew(leases, 1_000))
  })
}
