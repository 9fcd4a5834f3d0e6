import { expect, it } from 'vitest'
import { nemesisSchedule } from '../src/bank/nemesis/nemesis-schedule.ts'
import { LEASE_MS } from '../src/bank/processes/server-flags.ts'
import { SeededRandom } from '../src/bank/seeded-random.ts'

const ORDER = { kills: 50, pauses: 200, servers: 3, hasStoreServer: true, hasAims: true }

function schedule(seed: number, order = ORDER) {
  return nemesisSchedule(order, new SeededRandom(seed, 'nemesis'))
}

it('A schedule of faults is the same for the same seed, and another for another', () => {
  expect(schedule(1)).toEqual(schedule(1))
  expect(schedule(1)).not.toEqual(schedule(2))
})

it('A schedule of faults has what was ordered, on every server and every kind of edge', () => {
  const { crashes, stalls } = schedule(3)
  const all = [...crashes, ...stalls]
  const count = (type: string) => all.filter((action) => action.type === type).length
  expect([count('kill-server'), count('pause-server')]).toEqual([50, 200])
  expect(
    Math.min(count('kill-store'), count('pause-store'), count('kill-bank'), count('hurt-edge')),
  ).toBeGreaterThan(0)
  const killed = all.flatMap((action) => (action.type === 'kill-server' ? [action.server] : []))
  expect(new Set(killed)).toEqual(new Set([0, 1, 2]))
  const edges = all.flatMap((action) => (action.type === 'hurt-edge' ? [action.edge.type] : []))
  expect(new Set(edges)).toEqual(new Set(['client', 'store', 'bank']))
})

it('A schedule of faults aims at each point in the plan calls of workflows, as often as it kills servers', () => {
  const { aims } = schedule(6)
  const count = (point: string) =>
    aims.filter((action) => action.type === 'aim-at-bank' && action.order.point === point).length
  expect([count('between-commits'), count('before-answer')]).toEqual([25, 25])
  const aborted = aims.filter((action) => action.type === 'aim-at-bank' && action.isAborted)
  expect(new Set(aborted.map((action) => action.type === 'aim-at-bank' && action.order.point)).size).toBe(2)
  expect(schedule(6, { ...ORDER, hasAims: false }).aims).toEqual([])
})

it('A pause in a schedule of faults is longer than a lease', () => {
  const pauses = schedule(4).stalls.flatMap((action) =>
    action.type === 'pause-server' ? [action.forMs] : [],
  )
  expect(Math.min(...pauses)).toBeGreaterThan(LEASE_MS)
})

it('A schedule of faults leaves a store alone that has no server, and the network to it', () => {
  const { crashes, stalls } = schedule(5, { ...ORDER, servers: 1, hasStoreServer: false })
  const hurt = [...crashes, ...stalls].flatMap((action) =>
    action.type === 'hurt-edge' ? [action.edge.type] : [action.type],
  )
  expect(hurt.filter((what) => what === 'store' || what === 'kill-store' || what === 'pause-store')).toEqual(
    [],
  )
})
