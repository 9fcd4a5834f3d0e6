import { describe, expect, it } from 'vitest'
import { shareNextRun } from '../src/share-next-run.ts'

describe('runs that are shared', () => {
  function heldRuns() {
    const runs: { readonly end: () => void; readonly fail: (error: Error) => void }[] = []
    const ask = shareNextRun(() => new Promise((end, fail) => runs.push({ end, fail })))
    return { runs, ask, turn: () => new Promise((resolve) => setImmediate(resolve)) }
  }

  it('Those who ask while one is under way share the next one', async () => {
    const { runs, ask, turn } = heldRuns()
    const ended: string[] = []
    const askAs = (name: string) => ask().then(() => ended.push(name))
    for (const name of ['a', 'b']) void askAs(name)
    await turn()
    expect(runs).toHaveLength(1)
    for (const name of ['c', 'd']) void askAs(name)
    await turn()
    expect(runs).toHaveLength(1)
    runs[0]?.end()
    await turn()
    expect([ended, runs.length]).toEqual([['a', 'b'], 2])
    runs[1]?.end()
    await turn()
    expect(ended).toEqual(['a', 'b', 'c', 'd'])
  })

  it('One that fails fails for those who shared it alone', async () => {
    const { runs, ask, turn } = heldRuns()
    const first = ask()
    await turn()
    const second = ask()
    runs[0]?.fail(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await turn()
    runs[1]?.end()
    await expect(second).resolves.toBeUndefined()
  })
})
