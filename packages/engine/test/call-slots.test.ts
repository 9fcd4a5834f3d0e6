import { describe, expect, it } from 'vitest'
import { CallSlots } from '../src/call-slots.ts'
import { FakeTime } from './support/fake-time.ts'
import { Gate } from './support/gate.ts'

async function use(slots: CallSlots, work: () => Promise<void>): Promise<void> {
  await slots.enter()
  try {
    await work()
  } finally {
    slots.leave()
  }
}

describe('call slots', () => {
  it('run at most so many at once, and the others in the order they came', async () => {
    const time = new FakeTime()
    const slots = new CallSlots(2)
    const gates = Array.from({ length: 5 }, () => new Gate())
    const started: number[] = []
    const all = gates.map((gate, n) =>
      use(slots, async () => {
        started.push(n)
        await gate.pass()
      }),
    )
    await time.flush()
    expect(started).toEqual([0, 1])
    gates[1]?.open()
    await time.flush()
    expect(started).toEqual([0, 1, 2])
    for (const gate of gates) gate.open()
    await Promise.all(all)
    expect(started).toEqual([0, 1, 2, 3, 4])
  })

  it('are given on by work that fails', async () => {
    const slots = new CallSlots(1)
    const broken = use(slots, async () => {
      throw new Error('broken')
    })
    const next = use(slots, async () => undefined)
    await expect(broken).rejects.toThrow('broken')
    await next
    await use(slots, async () => undefined)
  })

  it('are taken at once while there are some', () => {
    const slots = new CallSlots(1)
    expect(slots.enter()).toBeUndefined()
    expect(slots.enter()).toBeInstanceOf(Promise)
  })

  it('are not lost when the queue runs empty and fills again', async () => {
    const time = new FakeTime()
    const slots = new CallSlots(3)
    let running = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++running)
      await time.flush()
      running--
    }
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 10 }, () => use(slots, work)))
    }
    expect([running, most]).toEqual([0, 3])
  })
})
