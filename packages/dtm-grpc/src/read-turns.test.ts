import { expect, it } from 'vitest'
import { type Reader, ReadTurns } from './read-turns.ts'

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

function read(turns: ReadTurns, isKnown: boolean, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const reader: Reader = {
      holder: isKnown ? 'key' : 'network',
      isKnown,
      readSome: () => {
        work(ms)
        resolve()
      },
    }
    turns.add(reader)
  })
}

it('Many short turns of strangers bring no long rest later', async () => {
  const turns = new ReadTurns()
  for (let n = 0; n < 100; n++) await read(turns, false, 3)
  await read(turns, false, 5)
  const startedAt = performance.now()
  await read(turns, false, 0)
  // The rest after 5 ms is 15 ms. After all 305 ms it would be 915.
  expect(performance.now() - startedAt).toBeLessThan(850)
})

it('Strangers who wait rest between their reads, and a known connection does not wait for that', async () => {
  const turns = new ReadTurns()
  let strangersRead = 0
  const readStranger = async () => {
    await read(turns, false, 5)
    strangersRead++
  }
  const startedAt = performance.now()
  const strangers = Promise.all(Array.from({ length: 40 }, readStranger))
  await read(turns, true, 0)
  expect(strangersRead).toBeLessThanOrEqual(1)
  await strangers
  // They took 200 ms, of which each but the last is followed by a rest of three times as long.
  expect(performance.now() - startedAt).toBeGreaterThan(700)
})
