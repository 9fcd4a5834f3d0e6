import { expect, it } from 'vitest'
import { RINGS_MAX, RingTable } from '../../src/statistics/ring-table.ts'

function fill(table: RingTable<'action' | 'confirm'>, minute: number): void {
  for (let n = 0; n < RINGS_MAX; n++) table.find(`service-${n}`, 'action', minute).increment(minute, 0)
}

it('What finds no room is counted as other, each part by itself', () => {
  const table = new RingTable<'action' | 'confirm'>(1)
  fill(table, 100)
  const beyond = table.find('one-more', 'action', 100)
  expect(table.find('and-another', 'action', 100)).toBe(beyond)
  expect(table.find('service-0', 'confirm', 100)).toBe(table.find('other', 'confirm', 100))
  expect(table.find('service-0', 'action', 100)).not.toBe(beyond)
  expect([...table.keys]).toHaveLength(RINGS_MAX + 1)
})

it('What was not counted for an hour makes room, and the rest stays', () => {
  const table = new RingTable<'action' | 'confirm'>(1)
  fill(table, 100)
  table.find('service-7', 'action', 159).increment(159, 0)
  const other = table.find('early', 'action', 159)
  expect(other).toBe(table.find('other', 'action', 159))
  const late = table.find('late', 'action', 160)
  expect(late).not.toBe(other)
  expect([...table.keys].sort()).toEqual(['late', 'other', 'service-7'])
})
