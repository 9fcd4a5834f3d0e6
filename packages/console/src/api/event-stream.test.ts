import { describe, expect, it } from 'vitest'
import { EventReader } from './event-stream.ts'

const TEXT = ': hello\n\nevent: view\ndata: {"a":\ndata: 1}\n\ndata: plain\r\n\r\nevent: empty\n\n'

describe('EventReader', () => {
  it('Events are read whole, wherever the pieces of the text end', () => {
    for (let size = 1; size <= TEXT.length; size += 1) {
      const reader = new EventReader()
      const pieces = Array.from({ length: Math.ceil(TEXT.length / size) }, (_each, at) =>
        TEXT.slice(at * size, (at + 1) * size),
      )
      expect(
        pieces.flatMap((piece) => reader.read(piece)),
        `pieces of ${size}`,
      ).toEqual([
        { name: 'view', data: '{"a":\n1}' },
        { name: 'message', data: 'plain' },
      ])
    }
  })
})
