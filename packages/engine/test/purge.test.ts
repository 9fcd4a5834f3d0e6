import { StoreUnavailableError } from '@counterstep/core'
import { expect, it } from 'vitest'
import { Fixture } from './support/fixture.ts'

const PURGE_EVERY_MS = 30_000

/** Fails each purge of more rows than that, as a store does whose statement takes longer than it may. */
function failOver(rowsMax: number, fixture: Awaited<ReturnType<Fixture['node']>>): void {
  const fail = <T>(): Promise<T> =>
    Promise.reject(new StoreUnavailableError('a statement had no answer in time', { applied: 'unknown' }))
  const when = (limit: number) => limit > rowsMax
  fixture.store.on('purge', fail, {
    times: Number.POSITIVE_INFINITY,
    when: when as (request: never) => boolean,
  })
}

function listLimits(node: Awaited<ReturnType<Fixture['node']>>): unknown[] {
  return node.store.calls.filter(({ verb }) => verb === 'purge').map(({ request }) => request)
}

it('A purge that fails is tried again with fewer rows, and the next one begins with some more', async () => {
  const fixture = new Fixture()
  const node = await fixture.node()
  failOver(10, node)
  await fixture.time.advance(PURGE_EVERY_MS)
  expect(listLimits(node)).toEqual([128, 32, 8])
  await fixture.time.advance(PURGE_EVERY_MS)
  expect(listLimits(node).slice(3)).toEqual([32, 8])
})

it('A purge that fails for a single row is tried again later', async () => {
  const fixture = new Fixture()
  const node = await fixture.node()
  failOver(0, node)
  await fixture.time.advance(PURGE_EVERY_MS)
  expect(listLimits(node)).toEqual([128, 32, 8, 2, 1])
  await fixture.time.advance(PURGE_EVERY_MS)
  expect(listLimits(node).slice(5)).toEqual([4, 1])
})
