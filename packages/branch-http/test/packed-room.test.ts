import { describe, expect, it } from 'vitest'
import { PACKED_BYTES_MAX, PackedRoom } from '../src/packed-room.ts'

const PIECE = 64 * 1024

function fill(room: PackedRoom, origin: string): number {
  let bytes = 0
  while (room.take(origin, PIECE)) bytes += PIECE
  return bytes
}

describe('the room for packed answers', () => {
  it('The room for packed answers is never taken whole by one origin, nor by many', () => {
    const room = new PackedRoom()
    const bytes = fill(room, 'one')
    expect([bytes <= PACKED_BYTES_MAX / 2, bytes > PACKED_BYTES_MAX / 2 - 2 * PIECE]).toEqual([true, true])
    for (let n = 0; n < 5; n += 1) fill(room, `more-${n}`)
    expect(room.take('last', PIECE)).toBe(true)
  })

  it('Room that was given back can be taken again', () => {
    const room = new PackedRoom()
    const bytes = fill(room, 'one')
    room.give('one', bytes)
    expect(fill(room, 'one')).toBe(bytes)
  })
})
