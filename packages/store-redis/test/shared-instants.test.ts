import type { ListCursor, ListOrder } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describeOn } from '@counterstep/test-servers/vitest'
import type { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { openedForTests } from './open-stores.ts'
import { aTransaction, created } from './transactions.ts'

const AT = 2_000_000_000_000
const GIDS = Array.from({ length: 40 }, (_, row) => `g-${String(row).padStart(2, '0')}`)
const OTHERS = 30_000
/** A page and what it takes to find it, with room for the texts of some hundred rows. */
const BYTES_MAX = 200_000

describeOn('redis', 'rows of one instant in Redis', (url) => {
  const { open, connect } = openedForTests()

  /** Stores the rows, all due at one instant, beside thousands of entries whose rows are gone. */
  async function openCrowded(others: number) {
    const { store, keysFor } = await open(url)
    for (const gid of GIDS) await created(store, aTransaction(gid))
    const [connection] = await connect(url)
    if (connection === undefined) throw new Error('no server')
    const { due } = keysFor('g')
    await connection.zadd(due, ...GIDS.flatMap((gid) => [AT, gid]))
    for (const prefix of ['a', 'z'])
      await connection.zadd(due, ...Array.from({ length: others }, (_, at) => [AT, `${prefix}-${at}`]).flat())
    return { store, connection }
  }

  it.each(['due', 'due-last'] satisfies ListOrder[])(
    'Each of them is listed once, in the order %s',
    async (order) => {
      const { store } = await openCrowded(100)
      const seen: string[] = []
      for (let cursor: ListCursor | undefined, page = 0; page === 0 || cursor !== undefined; page++) {
        const listed = await store.list({ order, limit: 7, ...(cursor && { cursor }) })
        seen.push(...listed.items.map(({ gid }) => gid))
        cursor = listed.cursor
      }
      expect(seen).toEqual(order === 'due' ? GIDS : GIDS.toReversed())
    },
  )

  it.each(['due', 'due-last'] satisfies ListOrder[])(
    'S40: A page behind thousands of them reads no more than the page, in the order %s',
    async (order) => {
      const { store, connection } = await openCrowded(OTHERS)
      const cursor = { at: AT, gid: 'g-20' as Gid }
      // The server counts the answers to other tests, too, so the least of some counts is nearest to the truth.
      const counts: number[] = []
      for (let count = 0; count < 5; count++) {
        const before = await readOutputBytes(connection)
        const { items } = await store.list({ order, cursor, limit: 1 })
        expect(items.map(({ gid }) => gid)).toEqual([order === 'due' ? 'g-21' : 'g-19'])
        counts.push((await readOutputBytes(connection)) - before)
      }
      expect(Math.min(...counts)).toBeLessThan(BYTES_MAX)
    },
  )
})

async function readOutputBytes(connection: Redis): Promise<number> {
  return Number(/total_net_output_bytes:(\d+)/.exec(await connection.info('stats'))?.[1])
}
