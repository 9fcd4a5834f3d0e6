import { expect, it } from 'vitest'
import { CollectedBytes } from '../src/collected-bytes.ts'

const BOUND = 4 * 1024 * 1024

it('A chunk that is used again afterwards changes nothing of the collected bytes', () => {
  const bytes = new CollectedBytes(BOUND)
  const chunk = new Uint8Array(1)
  for (const byte of Buffer.from('abc')) {
    chunk[0] = byte
    expect(bytes.add(chunk)).toBe(true)
  }
  expect(Buffer.from(bytes.bytesSoFar()).toString()).toBe('abc')
})

it('Chunks of one byte take no more memory than the bound', () => {
  const bytes = new CollectedBytes(BOUND)
  const chunk = Uint8Array.of(7)
  let held = 0
  for (let count = 1; count <= BOUND; count++) {
    bytes.add(chunk)
    held = Math.max(held, bytes.bytesSoFar().buffer.byteLength)
  }
  expect([bytes.bytesSoFar().length, held]).toEqual([BOUND, BOUND])
  expect(bytes.bytesSoFar().every((byte) => byte === 7)).toBe(true)
  expect(bytes.add(chunk)).toBe(false)
  expect(bytes.bytesSoFar().buffer.byteLength).toBe(0)
})

it('A whole message is taken at once, and one that is a byte too long is refused', () => {
  expect(new CollectedBytes(3).add(Buffer.from('abc'))).toBe(true)
  expect(new CollectedBytes(2).add(Buffer.from('abc'))).toBe(false)
  expect(new CollectedBytes(2).bytesSoFar()).toEqual(new Uint8Array())
})
