import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { CALLS_PER_SECOND_MAX, STRANGERS_MAX, Strangers } from './strangers.ts'

function open(strangers: Strangers, count: number, nameNetwork: (n: number) => string): readonly Socket[] {
  return Array.from({ length: count }, (_, n) => {
    const socket = new Socket()
    strangers.add(socket, nameNetwork(n))
    return socket
  })
}

const countEnded = (sockets: readonly Socket[]) => sockets.filter(({ destroyed }) => destroyed).length

describe('the places of callers without a key', () => {
  it('The network that has the most gives the place of its oldest connection to a new one', () => {
    const strangers = new Strangers()
    const [first, ...others] = open(strangers, STRANGERS_MAX - 1, () => 'many')
    const [single] = open(strangers, 1, () => 'one')
    open(strangers, 1, () => 'other')
    expect(first?.destroyed).toBe(true)
    expect(countEnded(others)).toBe(0)
    expect(single?.destroyed).toBe(false)
  })

  it('A new connection among many networks keeps its place for about as many others as there are places', () => {
    const strangers = new Strangers()
    open(strangers, STRANGERS_MAX, (n) => `old-${n}`)
    let kept = 0
    for (let round = 0; round < 20; round++) {
      const [own] = open(strangers, 1, () => `own-${round}`)
      open(strangers, STRANGERS_MAX / 4, (n) => `new-${round}-${n}`)
      if (own?.destroyed === false) kept++
    }
    // Each has a chance of e^(-1/4), 0.78. That fewer than six of twenty are kept comes once in 100,000 runs.
    expect(kept).toBeGreaterThanOrEqual(6)
  })

  it('A network that has shown a good key keeps its place longest', () => {
    const strangers = new Strangers()
    const [known] = open(strangers, 1, () => 'known')
    if (known !== undefined) strangers.trust(known, 'known', () => true)
    const again = open(strangers, 8, () => 'known')
    open(strangers, 10 * STRANGERS_MAX, (n) => `new-${n}`)
    expect(countEnded([...(known === undefined ? [] : [known]), ...again])).toBe(0)
    // Beyond a few its connections are as those of others, so it cannot keep all places.
    const many = open(strangers, STRANGERS_MAX, () => 'known')
    open(strangers, 64, (n) => `later-${n}`)
    expect(countEnded([...again, ...many])).toBeGreaterThanOrEqual(64)
  })

  it('Networks that have shown a good key leave half of the places to those that have yet to show one', () => {
    const strangers = new Strangers()
    const nameKnown = (n: number) => `known-${n % 64}`
    for (const [n, socket] of open(strangers, 64, nameKnown).entries())
      strangers.trust(socket, nameKnown(n), () => true)
    const [single] = open(strangers, 1, () => 'known-64')
    if (single !== undefined) strangers.trust(single, 'known-64', () => true)
    const [again] = open(strangers, 1, () => 'known-64')
    const many = open(strangers, STRANGERS_MAX, nameKnown)
    const newcomers = open(strangers, STRANGERS_MAX / 2 - 1, (n) => `new-${n}`)
    expect(countEnded(newcomers)).toBe(0)
    expect(countEnded(many)).toBe(STRANGERS_MAX / 2)
    expect(again?.destroyed).toBe(false)
  })

  it('A network counts as known for an hour after a connection of it has last shown its key', () => {
    const clock = { nowMs: 0 }
    const strangers = new Strangers(() => clock.nowMs)
    const [known] = open(strangers, 1, () => 'one')
    if (known === undefined) throw new Error('no socket')
    for (let minute = 0; minute < 90; minute++) {
      clock.nowMs += 60_000
      strangers.trust(known, 'one', () => true)
    }
    expect(strangers.isKnown('one')).toBe(true)
    clock.nowMs += 3_600_001
    expect(strangers.isKnown('one')).toBe(false)
  })

  it('A network counts as known as long as the key that it has shown is good', () => {
    const strangers = new Strangers()
    const [first, second] = open(strangers, 2, () => 'one')
    if (first === undefined || second === undefined) throw new Error('no socket')
    let isGood = true
    strangers.trust(first, 'one', () => isGood)
    expect(strangers.isKnown('one')).toBe(true)
    isGood = false
    expect(strangers.isKnown('one')).toBe(false)
    strangers.trust(second, 'one', () => true)
    expect(strangers.isKnown('one')).toBe(true)
  })

  it('A connection without a key ends at its first call, or byte, over the bound', () => {
    const strangers = new Strangers()
    const [calls, bytes] = open(strangers, 2, () => 'one')
    if (calls === undefined || bytes === undefined) throw new Error('no socket')
    for (let n = 0; n < CALLS_PER_SECOND_MAX; n++) expect(strangers.countCall(calls)).toBe(true)
    expect(strangers.countCall(calls)).toBe(false)
    for (let n = 0; n < 2; n++) expect(strangers.countBytes(bytes, 16_000)).toBe(true)
    expect(strangers.countBytes(bytes, 1)).toBe(false)
    expect([calls.destroyed, bytes.destroyed]).toEqual([true, true])
  })
})
