import { describe, expect, it } from 'vitest'
import { readListFilter } from './list-filter.ts'
import { BUILT_IN_VIEWS, readViewText, toViewText } from './views.ts'

describe('views', () => {
  for (const { words, filter } of BUILT_IN_VIEWS)
    it(`A view that is saved is read back the same (${words})`, () =>
      expect(readListFilter(readViewText(toViewText(filter)))).toEqual(filter))

  it('A view of a newer console still shows a list', () => {
    expect(readViewText('status=failed&colour=red&range=1y')).toEqual({ status: 'failed' })
  })
})
