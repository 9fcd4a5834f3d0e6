import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CarriedMessage, MessageReader, PREFIX_BYTES } from './message-reader.ts'

const BYTES_MAX = 64

function carry({ isPacked, bytes }: CarriedMessage): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt8(isPacked ? 1 : 0, 0)
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}

function split(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((place, n) => bytes.subarray(places[n], place))
}

describe('the messages in the bytes of a call', () => {
  it('They are the same however the bytes are split', () => {
    const message = fc.record({
      isPacked: fc.boolean(),
      bytes: fc.uint8Array({ maxLength: BYTES_MAX }).map((bytes) => Buffer.from(bytes)),
    })
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (sent, cuts) => {
          const reader = new MessageReader(BYTES_MAX)
          const chunks = split(Buffer.concat(sent.map(carry)), cuts)
          expect(chunks.flatMap((chunk) => [...reader.read(chunk)])).toEqual(sent)
          expect(reader.isWithinMessage).toBe(false)
        },
      ),
    )
  })

  it('A message is whole with its last byte, and not before', () => {
    const reader = new MessageReader(BYTES_MAX)
    const bytes = carry({ isPacked: false, bytes: Buffer.from('abc') })
    expect([...reader.read(bytes.subarray(0, -1))]).toEqual([])
    expect(reader.isWithinMessage).toBe(true)
    expect([...reader.read(bytes.subarray(-1))]).toHaveLength(1)
  })

  it.each([
    ['is one byte too long', Buffer.from([0, 0, 0, 0, BYTES_MAX + 1]), 8],
    ['says that it has 4 GiB', Buffer.alloc(5, 255).fill(1, 0, 1), 8],
    ['has another first byte than 0 or 1', Buffer.from([2, 0, 0, 0, 0]), 13],
  ])('A message that %s is refused when its length is known', (_what, bytes, code) => {
    const reader = new MessageReader(BYTES_MAX)
    expect(() => [...reader.read(bytes)]).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code }) }),
    )
  })
})
