import { expect, it } from 'vitest'
import { countMemoryPlaces } from '../src/count-memory-places.ts'

it.each([
  [128, 128],
  [256, 128],
  [512, 640],
  [10_240, 20_096],
])('A function of %i MB has %i places for claimed transactions', (memoryMb, places) => {
  expect(countMemoryPlaces(memoryMb)).toBe(places)
})
