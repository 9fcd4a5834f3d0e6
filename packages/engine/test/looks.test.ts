import { memoryStore } from '@counterstep/store-conformance'
import { describe, expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../src/index.ts'
import { Looks } from '../src/looks.ts'

/** A clock that stands but for what a test adds. No timer of it ever ends. */
function openLooks() {
  const clock = { nowMs: 1_000 }
  const looks = new Looks({
    store: memoryStore(),
    clock: { now: () => clock.nowMs, after: () => () => undefined },
    settings: DEFAULT_SETTINGS,
    later: () => {
      throw new Error('nothing runs here')
    },
  })
  return { clock, looks }
}

async function isAdmitted(look: Promise<unknown>): Promise<boolean> {
  let isDone = false
  void look.then(() => {
    isDone = true
  })
  await new Promise(setImmediate)
  return isDone
}

describe('a look', () => {
  it.each([
    [39, false],
    [40, true],
  ])(
    'S42: Its work is done %d ms after another that kept the thread busy for 10 ms: %s',
    async (ms, expected) => {
      const { clock, looks } = openLooks()
      const take = () =>
        looks.take(
          () => Promise.resolve(),
          () => {
            clock.nowMs += 10
          },
        )
      await take()
      clock.nowMs += ms
      expect(await isAdmitted(take())).toBe(expected)
      expect(await isAdmitted(looks.waitForTurn(0))).toBe(true)
    },
  )

  it('S42: The works of looks whose rows come at one instant are done one at a time, and their places are held', async () => {
    const { clock, looks } = openLooks()
    let done = 0
    const work = () => {
      clock.nowMs += 10
      done += 1
    }
    const all = Array.from({ length: 16 }, () => looks.take(() => Promise.resolve(), work))
    for (const each of all) void each.catch(() => undefined)
    expect(await isAdmitted(looks.waitForTurn(0))).toBe(false)
    expect(done).toBe(1)
  })

  it('S42: A text takes its turn as its length takes to be sent, and a short one takes none', async () => {
    const { looks } = openLooks()
    for (let short = 0; short < 100; short++) await looks.waitForTurn(8_192)
    for (let long = 0; long < 16; long++) await looks.waitForTurn(270_000)
    expect(await isAdmitted(looks.waitForTurn(0))).toBe(false)
  })
})
