import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'
import { buildSaga, readCode } from './support/sagas.ts'

const REFUSED = { result: 'unknown', error: 'refused' } as const
const ERROR_500 = { result: 'unknown', statusCode: 500, excerpt: 'lock wait timeout' } as const
const NAMING = { name: 'transfer', tags: { region: 'eu' } }

describe('the problem of a transaction', () => {
  it('It stands in the row, in lists and in the view while its op fails, and goes with the success', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.script('a', '01', 'action', REFUSED, ERROR_500, ERROR_500)
    await node.submit(buildSaga('a', 1, NAMING))
    await node.submit(buildSaga('b', 1))
    await fixture.time.until('three tries', () => fixture.services.calls.length === 4)
    const filter = { limit: 10, order: 'due', problem: 'bank.test action 500' } as const
    expect((await node.engine.list(filter)).items).toMatchObject([{ gid: 'a', ...NAMING, attempts: 3 }])
    const view = await node.get('a')
    expect(view).toMatchObject({ ...NAMING, problem: 'bank.test action 500' })
    expect(view?.branches[0]?.ops[0]).toMatchObject({
      service: 'bank.test',
      runs: [
        { outcome: 'refused', from: 1, count: 1 },
        { outcome: '500', from: 2, count: 2, excerpt: 'lock wait timeout' },
      ],
    })
    await fixture.untilStatus('a', 'succeeded')
    const [item] = (await node.engine.list({ limit: 10, name: 'transfer' })).items
    expect(item).toMatchObject({ gid: 'a', status: 'succeeded', ...NAMING })
    for (const field of ['problem', 'attempts', 'marks', 'paused']) expect(item).not.toHaveProperty(field)
    expect((await node.get('b'))?.branches[0]?.ops[0]).not.toHaveProperty('runs')
  })

  it('The problems of all unfinished transactions are counted', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    fixture.services.otherwise = () => ERROR_500
    for (const gid of ['a', 'b']) await node.submit(buildSaga(gid, 2))
    await fixture.time.advance(100)
    const { asOf, items } = await node.engine.problems()
    expect(asOf).toBe(fixture.time.now)
    expect(items).toMatchObject([{ problem: 'bank.test action 500', waiting: 2, attention: 0 }])
  })

  it('Without figures of the store there is an error', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    node.store.goDown()
    expect(await readCode(node.engine.problems())).toBe('SAGA_STORE_UNAVAILABLE')
  })
})

describe('a list of one gid', () => {
  it('A list with a gid has that transaction, if it passes the other filters', async () => {
    const fixture = new Fixture()
    const node = await fixture.node()
    for (const gid of ['a', 'ab']) await node.submit(buildSaga(gid, 1, NAMING))
    await fixture.untilStatus('a', 'succeeded')
    const find = async (filter: object) =>
      (await node.engine.list({ limit: 10, gid: 'a' as Gid, ...filter })).items.map(({ gid }) => gid)
    expect(await find({})).toEqual(['a'])
    expect(await find({ name: 'transfer', tags: { region: 'eu' }, status: ['succeeded'] })).toEqual(['a'])
    expect(await find({ name: 'payout' })).toEqual([])
    expect(await find({ order: 'due' })).toEqual([])
    expect(await find({ gid: 'none' })).toEqual([])
  })

  it('Each mark of a row is a field of its own', async () => {
    const fixture = new Fixture()
    const node = fixture.idleNode()
    await node.submit(buildSaga('a', 1, { delayMs: 60_000 }))
    const row = await fixture.row('a')
    const { gid, token, version, status, format, progress, retrying, attention } = row
    const hold = { type: 'command', dueAt: row.dueAt } as const
    const marks = ['paused', 'by-hand', 'edited'] as const
    await fixture.store.update({
      ...{ gid, token, version, status, format, progress, retrying, attention, hold, marks },
      writeId: 'marked',
    })
    const [item] = (await node.engine.list({ limit: 1, marks: ['paused'] })).items
    expect(item).toMatchObject({ paused: true, byHand: true, edited: true })
    expect(item).not.toHaveProperty('marks')
  })
})
