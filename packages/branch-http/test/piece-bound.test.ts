import { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { boundPieces } from '../src/piece-bound.ts'

function openBounded(): Socket {
  const socket = new Socket()
  onTestFinished(() => void socket.destroy())
  boundPieces(socket)
  socket.on('error', () => undefined)
  return socket
}

it.each([1, 16, 32])('A connection that brings thousands of pieces of %d bytes at once is ended', (bytes) => {
  const socket = openBounded()
  const piece = Buffer.alloc(bytes)
  let count = 0
  while (!socket.destroyed && count < 100_000) {
    socket.push(piece)
    count += 1
  }
  expect(socket.errored?.message).toBe('the answer comes in tiny pieces')
  expect(count).toBeLessThan(3_000)
})

it('A connection of short answers goes on, each in a head, a body and an end', () => {
  const socket = openBounded()
  for (let count = 0; count < 10_000; count++)
    for (const bytes of [160, 20, 5]) socket.push(Buffer.alloc(bytes))
  expect(socket.destroyed).toBe(false)
})
