import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readWaitSeconds } from '../src/http/prefer.ts'

describe('Prefer', () => {
  const rows: readonly (readonly [string | readonly string[] | undefined, number | undefined])[] = [
    [undefined, undefined],
    ['wait=10', 10],
    ['wait=0', 0],
    ['wait=60', 60],
    ['wait=61', 60],
    ['wait=999999999', 60],
    ['Wait = 5', 5],
    ['wait="7"', 7],
    ['respond-async, wait=10', 10],
    ['respond-async,wait=10;x=y , return=minimal', 10],
    ['a="x, wait=3"; b="\\"", wait=4', 4],
    ['wait=4, wait=9', 4],
    ['wait=x, wait=9', undefined],
    [['handling=lenient', 'wait=8'], 8],
    ['', undefined],
    ['wait', undefined],
    ['wait=', undefined],
    ['wait=-1', undefined],
    ['wait=1.5', undefined],
    ['wait=1e1', undefined],
    ['wait=9999999999', undefined],
    ['waiting=5', undefined],
    ['"wait=5', undefined],
  ]
  for (const [header, seconds] of rows) {
    it(`The header ${JSON.stringify(header)} asks for ${seconds ?? 'no wait'}`, () => {
      expect(readWaitSeconds(header)).toBe(seconds)
    })
  }

  it('Any text asks for whole seconds within the bounds, or for no wait', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('wait', '=', '5', ',', ';', '"', '\\', ' ') }),
        (text) => {
          const seconds = readWaitSeconds(text)
          expect(seconds === undefined || (Number.isInteger(seconds) && seconds >= 0 && seconds <= 60)).toBe(
            true,
          )
        },
      ),
    )
  })
})
