import { StoreUnavailableError } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { RowLimit } from '../src/row-limit.ts'

const UNAVAILABLE = new StoreUnavailableError('a statement had no answer in time', { applied: 'unknown' })
const ANSWERS_BEFORE_MORE = 16

/** A store that answers only calls of at most `rowsMax` rows, and keeps how many each call asked for. */
function boundedStore(rowsMax: number, error: Error = UNAVAILABLE) {
  const store = {
    rowsMax,
    asked: [] as number[],
    call: (rows: number) => {
      store.asked.push(rows)
      return rows > store.rowsMax ? Promise.reject(error) : Promise.resolve('answered')
    },
  }
  return store
}

const always = () => true

describe('the number of rows that a call asks for', () => {
  it.each([
    { max: 128, rowsMax: 128, asked: [128] },
    { max: 128, rowsMax: 127, asked: [128, 32] },
    { max: 128, rowsMax: 10, asked: [128, 32, 8] },
    { max: 128, rowsMax: 1, asked: [128, 32, 8, 2, 1] },
    { max: 64, rowsMax: 15, asked: [64, 16, 4] },
    { max: 1, rowsMax: 1, asked: [1] },
  ])('Is $asked of at most $max where the store bears $rowsMax', async ({ max, rowsMax, asked }) => {
    const store = boundedStore(rowsMax)
    expect(await new RowLimit(max).ask(store.call, always)).toEqual({
      rows: asked.at(-1),
      answer: 'answered',
    })
    expect(store.asked).toEqual(asked)
  })

  it.each([
    { why: 'a single row fails', rowsMax: 0, mayRetry: true, error: UNAVAILABLE, asked: [64, 16, 4, 1] },
    { why: 'no retry is allowed', rowsMax: 0, mayRetry: false, error: UNAVAILABLE, asked: [64] },
    { why: 'the error is a bug', rowsMax: 0, mayRetry: true, error: new Error('bug'), asked: [64] },
  ])('Is $asked until the error is thrown, if $why', async ({ rowsMax, mayRetry, error, asked }) => {
    const store = boundedStore(rowsMax, error)
    await expect(new RowLimit(64).ask(store.call, () => mayRetry)).rejects.toBe(error)
    expect(store.asked).toEqual(asked)
  })

  it.each([
    { bears: 64, next: [16, 64] },
    { bears: 16, next: [16, 64, 16] },
    { bears: 4, next: [16, 4, 16, 4] },
  ])('Is raised again after some answers, to $next where the store bears $bears', async ({ bears, next }) => {
    const store = boundedStore(4)
    const limit = new RowLimit(64)
    for (let answers = 0; answers < ANSWERS_BEFORE_MORE; answers++) await limit.ask(store.call, always)
    expect(store.asked).toEqual([64, 16, ...Array(ANSWERS_BEFORE_MORE).fill(4)])
    Object.assign(store, { rowsMax: bears, asked: [] })
    for (let answers = 0; answers < ANSWERS_BEFORE_MORE + 1; answers++) await limit.ask(store.call, always)
    expect(store.asked.filter((rows, i) => rows !== store.asked[i - 1])).toEqual(next)
  })

  it('Is raised to its maximum at most', async () => {
    const store = boundedStore(64)
    const limit = new RowLimit(64)
    limit.raise()
    await limit.ask(store.call, always)
    expect(store.asked).toEqual([64])
  })
})
