import { describe, expect, it } from 'vitest'
import { findNext } from './find-next.ts'

describe('the next with the same problem', () => {
  it('Each leads to the one after it, and the last to the first', () => {
    const gids = ['a', 'b', 'c']
    expect(gids.map((gid) => findNext(gids, gid))).toEqual(['b', 'c', 'a'])
  })

  it('One that has got on leads to the first that has not', () => {
    expect(findNext(['a', 'b'], 'mended')).toBe('a')
  })

  it('Where no other has the problem, there is no next one', () => {
    expect(findNext(['a'], 'a')).toBeUndefined()
    expect(findNext([], 'a')).toBeUndefined()
  })
})
