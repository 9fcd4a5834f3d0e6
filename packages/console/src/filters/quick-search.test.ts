import { describe, expect, it } from 'vitest'
import { readQuickSearch } from './quick-search.ts'

describe('the search field', () => {
  for (const [typed, target] of [
    ['order-4711', { screen: 'transaction', gid: 'order-4711' }],
    [' order-4711 ', { screen: 'transaction', gid: 'order-4711' }],
    ['order-*', { screen: 'list', search: { gid: 'order-*' } }],
    ['region:eu', { screen: 'list', search: { tag: 'region:eu' } }],
    ['bank-a compensate 500', { screen: 'list', search: { problem: 'bank-a compensate 500' } }],
    ['a"b', { screen: 'list', search: { gid: 'a"b' } }],
    ['  ', undefined],
  ] as const) {
    it(`Reads ${JSON.stringify(typed)}`, () => expect(readQuickSearch(typed)).toEqual(target))
  }
})
