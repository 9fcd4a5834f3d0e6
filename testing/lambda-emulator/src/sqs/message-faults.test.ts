import { expect, it } from 'vitest'
import { createFates, type SqsFaults } from './message-faults.ts'

const FAULTS: SqsFaults = { seed: 7, lostShare: 0.1, doubledShare: 0.2, delayedShare: 0.3, delayMsMax: 500 }
const DRAWS = 10_000

function draw(faults: SqsFaults | undefined) {
  const next = createFates(faults)
  return Array.from({ length: DRAWS }, () => next())
}

it('The fates of messages are the same for the same seed, and others for another', () => {
  expect(draw(FAULTS)).toEqual(draw(FAULTS))
  expect(draw({ ...FAULTS, seed: 8 })).not.toEqual(draw(FAULTS))
})

it('Each fate falls as often as it should', () => {
  const fates = draw(FAULTS)
  const countShare = (type: string) => fates.filter((fate) => fate.type === type).length / DRAWS
  expect(countShare('lost')).toBeCloseTo(0.1, 1)
  expect(countShare('doubled')).toBeCloseTo(0.2, 1)
  expect(countShare('delayed')).toBeCloseTo(0.3, 1)
  const delays = fates.flatMap((fate) => (fate.type === 'delayed' ? [fate.delayMs] : []))
  expect(Math.min(...delays)).toBeLessThan(50)
  expect(Math.max(...delays)).toBeGreaterThan(450)
  expect(Math.max(...delays)).toBeLessThanOrEqual(500)
})

it('Each fate falls as often as it should on ten messages as well', () => {
  const next = createFates(FAULTS)
  for (let ten = 0; ten < 100; ten++) {
    const types = Array.from({ length: 10 }, () => next().type)
    const countFates = (type: string) => types.filter((each) => each === type).length
    expect([countFates('lost'), countFates('doubled'), countFates('delayed')]).toEqual([1, 2, 3])
  }
})

it('The fates obey shares that change on the way', () => {
  let lostShare = 1
  const next = createFates({
    ...FAULTS,
    get lostShare() {
      return lostShare
    },
    doubledShare: 0,
    delayedShare: 0,
  })
  expect(next().type).toBe('lost')
  lostShare = 0
  expect(next().type).toBe('delivered')
})

it('Every message is delivered where no faults are asked for', () => {
  expect(new Set(draw(undefined).map(({ type }) => type))).toEqual(new Set(['delivered']))
})
