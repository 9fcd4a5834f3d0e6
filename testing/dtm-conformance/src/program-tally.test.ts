import { describe, expect, it } from 'vitest'
import { readTally, sum, tallyLine } from './program-tally.ts'

describe("a program's report", () => {
  it("The tally of a program's report is the sum of its lines", () => {
    const report = 'ok a\nok b\nknown c: DTM defect 9.1: reason\n2 passed, 0 failed, 1 known\n'
    expect(readTally(report, 0)).toEqual({ passed: 2, failed: 0, known: 1, skipped: 0 })
  })

  it("The tally of a program's report counts failures", () => {
    expect(readTally('ok a\nnot ok b: reason\n1 passed, 1 failed\n', 1)).toMatchObject({
      passed: 1,
      failed: 1,
    })
  })

  it.each([
    ['nothing at all', '', 0],
    ['no last line', 'ok a\n', 0],
    ['a last line that tells more than the lines', 'ok a\n2 passed, 0 failed\n', 0],
    ['a failure with exit code 0', 'not ok a: reason\n0 passed, 1 failed\n', 0],
    ['exit code 1 without a failure', 'ok a\n1 passed, 0 failed\n', 1],
    ['a program that was killed', 'ok a\n1 passed, 0 failed\n', null],
    ['no check at all with exit code 0', '0 passed, 0 failed\n', 0],
  ])('The report of a program is refused for %s', (_, report, exitCode) => {
    expect(readTally(report, exitCode)).toBeUndefined()
  })

  it('A tally is printed with known and skipped only where there are any', () => {
    const one = { passed: 1, failed: 0, known: 0, skipped: 0 }
    expect(tallyLine(one)).toBe('1 passed, 0 failed')
    expect(tallyLine(sum([one, { ...one, known: 2, skipped: 3 }]))).toBe(
      '2 passed, 0 failed, 2 known, 3 skipped',
    )
  })
})
