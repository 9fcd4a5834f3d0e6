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
  it('S42: leaves its place to others for as long as its work kept the thread busy, many times over', async () => {
    const { clock, looks } = openLooks()
    const work = () => {
      clock.nowMs += 10
    }
    await looks.take(() => Promise.resolve(), work)
    // 800 ms of rest are one place of sixteen.
    for (let place = 1; place < 16; place++)
      expect(await isAdmitted(looks.take(() => new Promise(() => undefined), work))).toBe(false)
    expect(await isAdmitted(looks.waitForTurn(0))).toBe(false)
  })

  it('S42: A text takes its turn as its length takes to be sent, and a short one takes none', async () => {
    const { looks } = openLooks()
    for (let short = 0; short < 100; short++) await looks.waitForTurn(8_192)
    for (let long = 0; long < 16; long++) await looks.waitForTurn(270_000)
    expect(await isAdmitted(looks.waitForTurn(0))).toBe(false)
  })
})
