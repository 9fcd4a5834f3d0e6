import { expect, it } from 'vitest'
import { serial } from '../../test/sagas.ts'
import { beginsToNeedAttention } from './attention.ts'

const REFUSED = 'compensation of branch 01 answered failure'
const FAILED = 'compensation of branch 01 failed 10 times'
const RESTED = 'claimed 3 times without progress'

for (const [what, before, after, expected] of [
  ['a transaction without attention', undefined, undefined, false],
  ['the first mark', undefined, REFUSED, true],
  ['the same mark', REFUSED, REFUSED, false],
  ['a mark that counts on', FAILED, 'compensation of branch 01 failed 11 times', false],
  ['a mark that is taken away', REFUSED, undefined, false],
  ['a rest alone', RESTED, RESTED, false],
  ['a reason after a rest', RESTED, REFUSED, true],
  ['a reason after a rest that had one', `${REFUSED}; ${RESTED}`, REFUSED, true],
] as const) {
  it(`tells a person ${expected ? '' : 'nothing '}of ${what}`, () => {
    const marked = (attention: string | undefined) => ({
      ...serial(1),
      ...(attention === undefined ? {} : { attention }),
    })
    expect(beginsToNeedAttention(marked(before), marked(after))).toBe(expected)
  })
}
