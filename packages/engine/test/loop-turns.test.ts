import { expect, it } from 'vitest'
import { LoopTurns } from '../src/loop-turns.ts'

it('Each large one has a turn of the event loop of its own, in the order of asking', async () => {
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
  await Promise.all(['a', 'b', 'c'].map((name) => turns.wait('one', 64 * 1024).then(() => order.push(name))))
  isOver = true
  expect(order.join('')).toMatch(/^-*a-+b-+c$/)
})

it('Holders take turns, however many of one wait', async () => {
  const turns = new LoopTurns()
  const order: string[] = []
  const waitFor = (name: string) => turns.wait(name, 64 * 1024).then(() => order.push(name))
  const all = [...Array.from({ length: 50 }, () => waitFor('many')), waitFor('few'), waitFor('few')]
  await Promise.all(all)
  expect(order.slice(0, 4)).toEqual(['many', 'few', 'many', 'few'])
})

it('Small ones share a turn of the event loop', async () => {
  const turns = new LoopTurns()
  let turn = 0
  let isOver = false
  const count = () => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 160 }, () => turns.wait('one', 4 * 1024)))
  isOver = true
  // They have 640 KiB, which is ten turns.
  expect(turn).toBeLessThan(20)
})
