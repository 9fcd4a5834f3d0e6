import type { NewTransaction, TransactionUpdate } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { writeFlush } from './flush-statement.ts'
import { toPendingCreate, toPendingUpdate } from './pending-writes.ts'

const noAnswer = () => undefined

function create(gid: string, change: Partial<NewTransaction> = {}) {
  return toPendingCreate(
    {
      ...{ gid: gid as Gid, kind: 'saga', status: 'submitted', format: 1, digest: 'd', definition: '{}' },
      ...{ progress: '{}', token: 't', writeId: 'w', sentList: 'held' },
      hold: { type: 'owned', leaseMs: 10_000 },
      ...change,
    } as NewTransaction,
    noAnswer,
    noAnswer,
  )
}

function update(gid: string, change: Partial<TransactionUpdate> = {}) {
  return toPendingUpdate(
    {
      ...{ gid: gid as Gid, token: 't', version: 1, writeId: 'w', status: 'submitted', format: 1 },
      ...{ progress: '{}', retrying: false, attention: true, hold: { type: 'keep' } },
      ...change,
    } as TransactionUpdate,
    noAnswer,
    noAnswer,
  )
}

const TAGGED = { tags: { region: 'eu' } }
const PLACES = { create: 14, update: 16 } as const

describe('the statement of a flush', () => {
  const flushes = {
    creates: [[create('a')], []],
    tagged: [[create('a'), create('b', TAGGED)], []],
    updates: [[], [update('a')]],
    both: [[create('a')], [update('b')]],
    all: [[create('a', TAGGED)], [update('b')]],
  } as const
  for (const [name, [creates, updates]] of Object.entries(flushes)) {
    it(`The statement has only the parts that the flush needs: ${name}`, () => {
      const { sql, values = [], name: given } = writeFlush(creates, updates)
      expect(given).toBe(`counterstep_${name}`)
      expect([
        sql.includes('created AS ('),
        sql.includes('updated AS ('),
        sql.includes('entered AS ('),
      ]).toEqual([creates.length > 0, updates.length > 0, name === 'tagged' || name === 'all'])
      const places = (creates.length > 0 ? PLACES.create : 0) + (updates.length > 0 ? PLACES.update : 0)
      expect(values).toHaveLength(places)
      expect(new Set(sql.match(/\$\d+/g))).toEqual(
        new Set(Array.from({ length: places }, (_, i) => `$${i + 1}`)),
      )
    })
  }

  it('The text of a statement does not depend on the number of its rows, so each name has one text', () => {
    const one = writeFlush([create('a')], [update('b')])
    const many = writeFlush(
      ['a', 'b', 'c'].map((gid) => create(gid)),
      ['d', 'e'].map((gid) => update(gid, { hold: { type: 'finish', retentionMs: 'never' } })),
    )
    expect([many.sql, many.name]).toEqual([one.sql, one.name])
  })

  it('Each parameter is the column of all rows, and a value that a row has not is null', () => {
    const { values = [] } = writeFlush([create('a', { name: 'n' }), create('b')], [update('c')])
    expect(values[0]).toEqual(['a', 'b'])
    expect(values[11]).toEqual(['n', null])
    expect(values[13]).toEqual([10_000, 10_000])
    expect(values[PLACES.create]).toEqual(['c'])
    expect(values[PLACES.create + 7]).toEqual([0])
    expect(values[PLACES.create + 8]).toEqual([1])
    expect(values[PLACES.create + 13]).toEqual(['keep'])
    for (const column of values) expect(column).toHaveLength(values.indexOf(column) < PLACES.create ? 2 : 1)
  })
})
