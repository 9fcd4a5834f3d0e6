import { describe, expect, it } from 'vitest'
import { readArguments } from '../src/arguments.ts'

describe('the command line', () => {
  it('takes fresh seeds after the regressions, unless it is told where to start', () => {
    const fresh = readArguments(['--seeds', '20000'])
    expect(fresh).toMatchObject({ seeds: 20_000, regressions: true, trace: false })
    expect(fresh.first).toBeGreaterThan(0)
    expect(readArguments(['--seeds', '7', '--seed', '4'])).toMatchObject({
      first: 4,
      seeds: 7,
      regressions: true,
    })
  })

  it('takes one seed where only that is named, without the regressions', () => {
    expect(readArguments(['--seed', '9'])).toMatchObject({ first: 9, seeds: 1, regressions: false })
  })

  it('takes a line of the list, and shows all of it', () => {
    expect(readArguments(['--only', '9 off=crashes heal=100'])).toMatchObject({
      first: 9,
      seeds: 1,
      trace: true,
      reduction: { off: ['crashes'], dropped: [], healAtMs: 100 },
    })
  })

  it.each([[['--seeds', '0']], [['--seed', 'x']], [['--seeds', '1.5']]])('refuses %j', (args) => {
    expect(() => readArguments(args)).toThrow(RangeError)
  })
})
