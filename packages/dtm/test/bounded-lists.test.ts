import type { ListedTransaction, ListQuery } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { CronTimeReset } from '../src/commands/reset-cron-time.ts'
import { LIST_CHARACTERS_MAX } from '../src/view/list-page.ts'
import { listTransactions } from '../src/view/list-transactions.ts'
import { openDtmFixture } from './support/dtm-fixture.ts'

const NEWEST_AT = 1_000_000
const FAR_AT = 9_000_000

function listed(at: number): ListedTransaction {
  const shown = {
    kind: 'saga',
    status: 'submitted',
    updatedAt: at,
    epoch: 1,
    retrying: true,
    attention: false,
  } as const
  return { ...shown, gid: `g-${at}` as Gid, createdAt: at, dueAt: FAR_AT }
}

/**
 * Makes an engine over `rows` rows, newest first, where each list and each command takes so long. With `isEmpty` the
 * filter matches nothing.
 */
function bigEngine({ rows, listMs = 1, retryMs = 0, isEmpty = false }: BigStore) {
  const state = { now: 0, lists: 0, retried: new Set<string>() }
  const list = async ({ limit, cursor }: ListQuery) => {
    state.lists++
    state.now += listMs
    const from = cursor === undefined ? 0 : NEWEST_AT - cursor.at + 1
    const to = Math.min(rows, from + (isEmpty ? 10_000 : limit))
    const items = isEmpty ? [] : Array.from({ length: to - from }, (_, i) => listed(NEWEST_AT - from - i))
    const last = { at: NEWEST_AT - to + 1, gid: `g-${NEWEST_AT - to + 1}` as Gid }
    const due = items.map((item) => (state.retried.has(item.gid) ? { ...item, dueAt: 0 } : item))
    return { items: due, ...(to < rows ? { cursor: last } : {}) }
  }
  const retry = async (gid: Gid) => {
    state.now += retryMs
    state.retried.add(gid)
    return {} as never
  }
  const showWhole = async () => {
    state.now += retryMs
    return undefined
  }
  return { engine: { list, retry, showWhole }, state, now: () => state.now }
}

interface BigStore {
  readonly rows: number
  readonly listMs?: number
  readonly retryMs?: number
  readonly isEmpty?: boolean
}

describe('all', () => {
  const ask = ({ engine, now }: ReturnType<typeof bigEngine>, position = '', limit = 0) =>
    listTransactions(engine, { filter: { attention: true }, position, limit, now })

  it('A list with a filter that matches nothing ends after ten pages, and its position goes on', async () => {
    const big = bigEngine({ rows: 1_000_000, isEmpty: true })
    const page = await ask(big)
    expect(big.state.lists).toBe(10)
    expect(page.transactions).toEqual([])
    expect(page.position).not.toBe('')
    await ask(big, page.position)
    expect(big.state.lists).toBe(20)
  })

  it('A list ends after two seconds, however slow the store', async () => {
    const big = bigEngine({ rows: 1_000_000, isEmpty: true, listMs: 900 })
    expect((await ask(big)).position).not.toBe('')
    expect(big.state.lists).toBe(3)
  })

  it('A list whose rows take long to read ends behind the last one that it has read', async () => {
    const big = bigEngine({ rows: 1_000_000, retryMs: 100 })
    const { position } = await ask(big)
    const [at] = position.split('.')
    expect(NEWEST_AT - Number(at) + 1).toBe(24)
  })

  it('A list of large rows ends after some of them, and its positions lead through all', async () => {
    await using dtm = await openDtmFixture()
    const { url } = dtm.play({})
    const large = { custom_data: JSON.stringify({ note: 'y'.repeat(900_000) }) }
    const gids = Array.from({ length: 18 }, (_, n) => `large-${n}`)
    for (const gid of gids) {
      const steps = [{ action: `${url}/in` }]
      await dtm.node.post('submit', { gid, trans_type: 'saga', steps, payloads: ['{}'], ...large })
    }
    const pages: string[][] = []
    let position = ''
    do {
      const { body } = await dtm.node.get(`all?limit=1000&position=${position}`)
      const page: { next_position: string; transactions: { gid: string }[] } = JSON.parse(body)
      pages.push(page.transactions.map(({ gid }) => gid))
      position = page.next_position
    } while (position !== '')
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 4, 4, 2])
    expect(pages.flat().sort()).toEqual(gids.sort())
  })

  it('S17: A list of rows whose characters are escaped ends as soon as they would be too many', async () => {
    await using dtm = await openDtmFixture()
    const { url } = dtm.play({})
    const large = { custom_data: JSON.stringify({ note: '<'.repeat(150_000) }) }
    const gids = Array.from({ length: 8 }, (_, n) => `escaped-${n}`)
    for (const gid of gids)
      await dtm.node.post('submit', {
        gid,
        trans_type: 'saga',
        steps: [{ action: `${url}/in` }],
        payloads: ['{}'],
        ...large,
      })
    const { body } = await dtm.node.get('all?limit=8')
    expect(body.length).toBeLessThan(LIST_CHARACTERS_MAX + 1_000)
    const { transactions, next_position: position } = JSON.parse(body)
    expect(transactions).toHaveLength(4)
    expect(
      JSON.parse((await dtm.node.get(`all?limit=8&position=${position}`)).body).transactions,
    ).toHaveLength(4)
  })

  it('A list comes to an end by its positions', async () => {
    const big = bigEngine({ rows: 250_000, isEmpty: true })
    let { position } = await ask(big)
    while (position !== '') ({ position } = await ask(big, position))
    expect(big.state.lists).toBe(25)
  })
})

describe('resetCronTime', () => {
  it('A resetCronTime retries at most a thousand in one call, whatever limit is asked for', async () => {
    const { engine, state, now } = bigEngine({ rows: 1_000_000 })
    const reset = new CronTimeReset(engine, now)
    const asked = { dueAfter: 0, limit: 999_999_999 }
    expect(await reset.run(asked)).toEqual({ hasRemaining: true, count: 1_000 })
    expect(state.retried.size).toBe(1_000)
  })

  it('A resetCronTime ends after two seconds, however slow the store', async () => {
    const { engine, state, now } = bigEngine({ rows: 1_000_000, retryMs: 100 })
    const reset = new CronTimeReset(engine, now)
    expect(await reset.run({ dueAfter: 0, limit: 1_000 })).toEqual({ hasRemaining: true, count: 20 })
    expect(state.now).toBeLessThan(2_200)
  })

  it('A resetCronTime that finds nothing in ten lists says that there may be more, and the next call goes on there', async () => {
    const { engine, state, now } = bigEngine({ rows: 5_000 })
    const reset = new CronTimeReset(engine, now)
    const asked = { dueAfter: FAR_AT, limit: 100 }
    expect(await reset.run(asked)).toEqual({ hasRemaining: true, count: 0 })
    expect(state.lists).toBe(10)
    expect(await reset.run(asked)).toEqual({ hasRemaining: true, count: 0 })
    expect(await reset.run(asked)).toEqual({ hasRemaining: false, count: 0 })
    expect(state.lists).toBe(25)
    await reset.run(asked)
    expect(state.lists).toBe(35)
  })

  it('A resetCronTime begins with the newest again after a minute, and after a call that its limit ended', async () => {
    const big = bigEngine({ rows: 5_000 })
    const reset = new CronTimeReset(big.engine, big.now)
    await reset.run({ dueAfter: FAR_AT, limit: 100 })
    big.state.now += 60_000
    expect(await reset.run({ dueAfter: 0, limit: 1 })).toEqual({ hasRemaining: true, count: 1 })
    expect(await reset.run({ dueAfter: 0, limit: 1 })).toEqual({ hasRemaining: true, count: 1 })
    expect([...big.state.retried]).toEqual([`g-${NEWEST_AT}`, `g-${NEWEST_AT - 1}`])
  })
})
