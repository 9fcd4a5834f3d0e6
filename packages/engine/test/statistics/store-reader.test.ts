import { type StoreStats, StoreUnavailableError } from '@counterstep/core'
import { expect, it } from 'vitest'
import { StoreReader } from '../../src/statistics/store-reader.ts'
import { FakeTime, START_AT } from '../support/fake-time.ts'

const STATS: StoreStats = {
  now: START_AT,
  unfinished: { prepared: 1, submitted: 2, aborting: 3 },
  attention: 4,
  paused: 0,
  byHand: 0,
  problems: [],
}

function fixture(stats: () => Promise<StoreStats>) {
  const time = new FakeTime()
  let asked = 0
  const counted = () => {
    asked++
    return stats()
  }
  const reader = new StoreReader({ stats: counted }, time.clock(), () => time.now)
  return { time, reader, readAsked: () => asked }
}

const GONE = new StoreUnavailableError('the server cannot be reached', { applied: 'no' })

it('The store is asked at most once in five seconds, however many ask', async () => {
  const { time, reader, readAsked } = fixture(async () => STATS)
  await Promise.all([reader.read(), reader.readSoon(), reader.read()])
  await time.advance(4_999)
  expect(await reader.read()).toBe(STATS)
  expect(readAsked()).toBe(1)
  await time.advance(1)
  await reader.read()
  expect(readAsked()).toBe(2)
})

it('While the store fails, the last figures are shown with their instant, and it is asked again after five seconds', async () => {
  let isGone = false
  const { time, reader, readAsked } = fixture(async () => {
    if (isGone) throw GONE
    return STATS
  })
  await reader.read()
  isGone = true
  await time.advance(5_000)
  expect(await reader.read()).toBeUndefined()
  expect(await reader.readSoon()).toEqual({ stats: STATS, asOf: START_AT, isAway: true })
  expect(readAsked()).toBe(2)
  isGone = false
  await time.advance(5_000)
  expect(await reader.readSoon()).toEqual({ stats: STATS, asOf: time.now, isAway: false })
})

it('A store that hangs delays an answer by half a second at most, is away after three, and is asked once', async () => {
  let release: () => void = () => undefined
  let hangs = false
  const { time, reader, readAsked } = fixture(() =>
    hangs
      ? new Promise((resolve) => {
          release = () => resolve(STATS)
        })
      : Promise.resolve(STATS),
  )
  await reader.read()
  hangs = true
  await time.advance(5_000)
  const first = reader.readSoon()
  await time.advance(500)
  expect(await first).toEqual({ stats: STATS, asOf: START_AT, isAway: false })
  await time.advance(60_000)
  const late = reader.readSoon()
  await time.advance(500)
  expect(await late).toEqual({ stats: STATS, asOf: START_AT, isAway: true })
  expect(readAsked()).toBe(2)
  hangs = false
  release()
  await time.flush()
  expect((await reader.readSoon()).isAway).toBe(false)
})

it('A store that has never answered is away, and has no figures', async () => {
  const { reader } = fixture(async () => {
    throw GONE
  })
  expect(await reader.readSoon()).toEqual({ stats: undefined, asOf: 0, isAway: true })
})
