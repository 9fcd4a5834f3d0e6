import { describe, expect, it } from 'vitest'
import { readArguments } from '../src/arguments.ts'

describe('the command line', () => {
  it('The command line takes fresh seeds after the regressions, unless it names the first seed', () => {
    const fresh = readArguments(['--seeds', '20000'])
    expect(fresh).toMatchObject({ seeds: 20_000, regressions: true, trace: false })
    expect(fresh.first).toBeGreaterThan(0)
    expect(readArguments(['--seeds', '7', '--seed', '4'])).toMatchObject({
      first: 4,
      seeds: 7,
      regressions: true,
    })
  })

  it('The command line takes one seed without the regressions where only that is named', () => {
    expect(readArguments(['--seed', '9'])).toMatchObject({ first: 9, seeds: 1, regressions: false })
  })

  it('The command line takes a line of the regressions, and shows its whole trace', () => {
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
