import { expect, it } from 'vitest'
import { LoopTurns } from '../src/loop-turns.ts'

it('Each has a turn of the event loop of its own, in the order of asking', async () => {
  const turns = new LoopTurns()
  const order: string[] = []
  // A timer and a socket come to their turn between two of them, as does whatever waits for the loop itself.
  let isOver = false
  const others = () => {
    if (isOver) return
    order.push('-')
    setImmediate(others)
  }
  setImmediate(others)
  await Promise.all(['a', 'b', 'c'].map((name) => turns.wait().then(() => order.push(name))))
  isOver = true
  expect(order.join('')).toMatch(/^-*a-+b-+c$/)
})
