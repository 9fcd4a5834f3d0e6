import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

function buildInOrder(keys: readonly string[]): Record<string, number> {
  return Object.fromEntries(keys.map((key) => [key, 1]))
}

it('Canonical JSON is the same for every order of few or many keys', () => {
  fc.assert(
    fc.property(
      fc
        .uniqueArray(fc.string({ unit: 'binary', maxLength: 3 }), { maxLength: 40 })
        .chain((keys) =>
          fc.tuple(
            fc.constant(keys),
            fc.shuffledSubarray(keys, { minLength: keys.length, maxLength: keys.length }),
          ),
        ),
      ([keys, shuffled]) => {
        const sorted = keys.toSorted().map((key) => `${JSON.stringify(key)}:1`)
        expect(canonicalJson(buildInOrder(shuffled))).toBe(`{${sorted.join(',')}}`)
      },
    ),
    { numRuns: 2_000 },
  )
})
