import { describe, expect, test } from 'vitest'
import { addBound } from '../src/young-generation.ts'

describe('the bound of the young generation', () => {
  test('The bound of the young generation is put before the existing arguments', () => {
    expect(addBound(['--cpu-prof'], '')).toEqual([
      '--max-semi-space-size=16',
      '--min-semi-space-size=16',
      '--cpu-prof',
    ])
  })

  test.each([
    [['--max-semi-space-size=4'], ''],
    [['--max_semi_space_size=4'], ''],
    [['--max-semi-space-size', '4'], ''],
    [[], '--enable-source-maps --max-semi-space-size=4'],
  ])("The user's own bound of the young generation is kept: %j %j", (execArgv, nodeOptions) => {
    expect(addBound(execArgv, nodeOptions)).toBeUndefined()
  })
})
