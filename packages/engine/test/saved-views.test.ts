import type { Ids, Store } from '@counterstep/core'
import { SAVED_VIEWS_MAX } from '@counterstep/protocol'
import { memoryStore } from '@counterstep/store-conformance'
import { describe, expect, it } from 'vitest'
import type { Looks } from '../src/looks.ts'
import { nodeIds } from '../src/node-ids.ts'
import { ViewDocuments } from '../src/views/saved-views.ts'
import { readCode } from './support/sagas.ts'

const BY = { via: 'local' } as const
/** Each look has its turn at once. */
const LOOKS: Pick<Looks, 'take'> = { take: async (read, work) => work(await read()) }
const ids: Ids = nodeIds()
const open = (store: Store = memoryStore(), now = () => 7) => new ViewDocuments(store, ids, now, LOOKS)

describe('saved views', () => {
  it('A view is there for every node, in the order of names, and the same name replaces it', async () => {
    const store = memoryStore()
    const [one, two] = [open(store), open(store)]
    await one.save({ name: 'payouts', filter: 'name=payout' }, BY)
    const first = await two.save({ name: 'EU', filter: 'tag=region:eu' }, BY)
    expect(first).toMatchObject({ name: 'EU', by: BY, savedAt: 7 })
    const again = await one.save({ name: 'EU', filter: 'tag=region:eu&retrying=true' }, BY)
    expect(again.id).toBe(first.id)
    expect((await two.list()).map(({ name, filter }) => [name, filter])).toEqual([
      ['EU', 'tag=region:eu&retrying=true'],
      ['payouts', 'name=payout'],
    ])
  })

  it('A view that is removed is gone, and one that is not there has a code', async () => {
    const views = open()
    const { id } = await views.save({ name: 'a', filter: '' }, BY)
    await views.remove(id)
    expect(await views.list()).toEqual([])
    expect(await readCode(views.remove(id))).toBe('SAGA_UNKNOWN_VIEW')
  })

  it('The hundred-and-first is refused, and one that is there can be replaced still', async () => {
    const views = open()
    for (let number = 0; number < SAVED_VIEWS_MAX; number++)
      await views.save({ name: `view ${number}`, filter: '' }, BY)
    expect(await readCode(views.save({ name: 'one more', filter: '' }, BY))).toBe('SAGA_TOO_MANY_VIEWS')
    expect(await views.save({ name: 'view 7', filter: 'retrying=true' }, BY)).toMatchObject({
      name: 'view 7',
    })
    expect((await views.list()).length).toBe(SAVED_VIEWS_MAX)
  })

  it('Two who save one name at once both succeed, and one of both views is there', async () => {
    const store = memoryStore()
    const [one, two] = [open(store), open(store)]
    await Promise.all([
      one.save({ name: 'a', filter: 'kind=tcc' }, BY),
      two.save({ name: 'a', filter: 'kind=saga' }, BY),
    ])
    const [view, ...others] = await one.list()
    expect(others).toEqual([])
    expect(['kind=tcc', 'kind=saga']).toContain(view?.filter)
  })
})
