import { expect, it } from 'vitest'
import { StepIds } from './step-ids.ts'

it.each<[string, string, string]>([
  ['Ids that are different stay', 'a b c', 'a b c'],
  ['An id that comes again is numbered', 'a b a a b', 'a b a.2 a.3 b.2'],
  ['A number that is taken is left out', 'a a.2 a a', 'a a.2 a.3 a.4'],
  ['A numbered id that comes later is numbered itself', 'a a a.2 a', 'a a.2 a.2.2 a.3'],
])('%s', (_title, asked, taken) => {
  const ids = new StepIds()
  expect(
    asked
      .split(' ')
      .map((id) => ids.take(id))
      .join(' '),
  ).toBe(taken)
})
