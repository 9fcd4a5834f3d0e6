import { describe, expect, it } from 'vitest'
import { keepOrder } from './keep-order.ts'

const item = (key: string, due = 0) => ({ key, due })
const keep = (
  held: readonly ReturnType<typeof item>[] | undefined,
  newest: readonly ReturnType<typeof item>[],
) => keepOrder(held, newest, ({ key }) => key).map((each) => [each.item.key, each.item.due, each.isGone])

describe('an order that is held', () => {
  it('Items keep their places, and have their newest state', () => {
    expect(keep([item('a', 1), item('b', 2)], [item('b', 2), item('a', 9)])).toEqual([
      ['a', 9, false],
      ['b', 2, false],
    ])
  })

  it('What has gone leaves no gap, and what has come stands at the end', () => {
    expect(keep([item('a', 1), item('b', 2)], [item('c', 0), item('b', 2)])).toEqual([
      ['a', 1, true],
      ['b', 2, false],
      ['c', 0, false],
    ])
  })

  it('Nothing held: the newest as they are', () => {
    expect(keep(undefined, [item('b'), item('a')]).map(([key]) => key)).toEqual(['b', 'a'])
  })
})
