import { expect, it } from 'vitest'
import { KeptBody } from '../src/kept-body.ts'

it('A kept body keeps what it is given when the buffer that it was read from is used again', () => {
  const read = Buffer.alloc(3)
  const body = new KeptBody()
  expect([body.length, body.bytes.toString()]).toEqual([0, ''])
  let whole = ''
  for (const piece of ['a', 'bcd', '', 'ef', 'g'.repeat(3)]) {
    read.write(piece)
    body.add(read.subarray(0, piece.length))
    whole += piece
    expect([body.length, body.bytes.toString()]).toEqual([whole.length, whole])
  }
})

it('A kept body takes at most twice the room of its bytes, however small the pieces', () => {
  const body = new KeptBody()
  for (let n = 0; n < 100_000; n++) body.add(Buffer.from('x'))
  expect(body.length).toBe(100_000)
  expect(body.bytes.buffer.byteLength).toBeLessThanOrEqual(200_000)
})
