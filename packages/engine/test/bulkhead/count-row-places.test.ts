import { expect, it } from 'vitest'
import { countRowPlaces, countTextPlaces } from '../../src/bulkhead/count-row-places.ts'

const PLACE = 32 * 1_024

it('S40: A text that is kept in two bytes a character takes twice the places', () => {
  const narrow = 'é'.repeat(10 * PLACE)
  const wide = `${'a'.repeat(10 * PLACE - 1)}€`
  expect([countTextPlaces(narrow), countTextPlaces(wide)]).toEqual([10, 20])
  expect(countRowPlaces({ definition: narrow, progress: wide })).toBe(30)
})

it('A short row takes one place, whatever stands in it', () => {
  expect(countRowPlaces({ definition: '€'.repeat(PLACE / 4), progress: '€'.repeat(PLACE / 4) })).toBe(1)
})
