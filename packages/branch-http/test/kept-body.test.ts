import { expect, it } from 'vitest'
import { KeptBody } from '../src/kept-body.ts'

it('keeps what it is given, whatever becomes of where that was read', () => {
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

it('takes at most twice the room of what it keeps, however small the pieces', () => {
  const body = new KeptBody()
  for (let n = 0; n < 100_000; n++) body.add(Buffer.from('x'))
  expect(body.length).toBe(100_000)
  expect(body.bytes.buffer.byteLength).toBeLessThanOrEqual(200_000)
})
