import { KINDS, STATUSES } from '@counterstep/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  FLAGS,
  isEmptyFilter,
  ORDERS,
  RANGES,
  readListFilter,
  toListQuery,
  writeListFilter,
} from './list-filter.ts'
import { parseSearch, stringifySearch } from './search-text.ts'

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).filter((each) => each !== '')
const filters = fc.record(
  {
    status: fc.subarray([...STATUSES], { minLength: 1 }),
    kind: fc.constantFrom(...KINDS),
    name: text,
    tag: fc.array(text, { minLength: 1, maxLength: 3 }),
    problem: text,
    gid: text,
    flags: fc.subarray([...FLAGS], { minLength: 1 }),
    range: fc.constantFrom(...RANGES),
    order: fc.constantFrom(...ORDERS.filter((order) => order !== 'created')),
  },
  { requiredKeys: [] },
)

describe('a filter in the address', () => {
  it('A filter that is written into an address is read back the same', () => {
    fc.assert(
      fc.property(filters, (filter) => {
        const search = stringifySearch(writeListFilter(filter))
        expect(readListFilter(parseSearch(search))).toEqual(filter)
      }),
    )
  })

  it('The address stays readable', () => {
    const filter = {
      status: ['submitted', 'aborting'],
      name: 'transfer',
      tag: ['region:eu'],
      order: 'due',
    } as const
    expect(stringifySearch(writeListFilter(filter))).toBe(
      '?status=submitted,aborting&name=transfer&tag=region:eu&order=due',
    )
  })

  it('An address with unknown words still shows a list', () => {
    const fields = parseSearch('?status=sleeping,failed&order=sideways&paused=maybe&next=1')
    expect(readListFilter(fields)).toEqual({ status: ['failed'] })
  })

  it('A range becomes an instant of the server', () => {
    expect(toListQuery({ range: '1h', gid: 'a*' }, 7_200_999)).toEqual({ gid: 'a*', createdFrom: '3600000' })
  })

  it('An order alone hides nothing', () => {
    expect(isEmptyFilter({ order: 'due' })).toBe(true)
    expect(isEmptyFilter({ kind: 'saga' })).toBe(false)
  })
})
