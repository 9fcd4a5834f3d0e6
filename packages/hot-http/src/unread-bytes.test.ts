import { afterEach, describe, expect, it, vi } from 'vitest'
import { UnreadBytes } from './unread-bytes.ts'

afterEach(() => void vi.restoreAllMocks())

describe('unread bytes', () => {
  it('are taken in their order, wherever the pieces end', () => {
    const unread = new UnreadBytes()
    for (const piece of ['ab', 'c', 'defg']) unread.add(Buffer.from(piece))
    expect([unread.take(1), unread.take(4)].map(String)).toEqual(['a', 'bcde'])
    unread.add(Buffer.from('h'))
    expect([unread.length, String(unread.joined()), String(unread.take(3)), unread.length]).toEqual([
      3,
      'fgh',
      'fgh',
      0,
    ])
    unread.add(Buffer.from('i'))
    expect(String(unread.take(1))).toBe('i')
  })

  it('are held in few pieces, however small these come', () => {
    const concat = vi.spyOn(Buffer, 'concat')
    const unread = new UnreadBytes()
    for (let i = 0; i < 10_000; i++) unread.add(Buffer.from('a'))
    expect(String(unread.joined())).toBe('a'.repeat(10_000))
    expect(Math.max(...concat.mock.calls.map(([pieces]) => pieces.length))).toBeLessThan(100)
  })
})
