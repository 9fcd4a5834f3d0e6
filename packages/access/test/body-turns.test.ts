import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { BodyTurns } from '../src/body-turns.ts'
import { type Connection, findConnection, type Holder } from '../src/connection.ts'

const LARGE = 1024 * 1024

function createTurns() {
  let held = 0
  const turns = new BodyTurns({
    hold: (_connection, bytes) => {
      held += bytes
    },
    release: (_connection, bytes) => {
      held -= bytes
    },
  })
  const begun: string[] = []
  const take = (connection: Connection, bytes: number, name: string) =>
    turns.take(connection, bytes, () => begun.push(name))
  return { turns, take, begun, held: () => held }
}

function openConnection(name: string, holder: Holder | undefined = createHolder(name)): Connection {
  const connection = findConnection(new Socket())
  connection.holder = holder
  return connection
}

function createHolder(name: string): Holder {
  return { name, isGood: () => true, connections: new Set(), heldBytes: 0 }
}

describe('bodies that are whole', () => {
  it('Large bodies are handled one per turn of the event loop, and small ones at once', async () => {
    const { take, begun, held } = createTurns()
    for (const name of ['a', 'b', 'c']) take(openConnection(name), LARGE, name)
    take(openConnection('d'), 4_096, 'd')
    expect([begun, held()]).toEqual([['d'], 3 * LARGE])
    await setImmediate()
    expect([begun, held()]).toEqual([['d', 'a'], 2 * LARGE])
    await expect.poll(() => [begun, held()]).toEqual([['d', 'a', 'b', 'c'], 0])
  })

  it('Other work gets as much time as a body has taken, also in the next turn of the loop', async () => {
    const { turns } = createTurns()
    const work = { tookMs: 0, endedAt: 0, nextAt: 0 }
    turns.take(openConnection('a'), LARGE, async () => {
      const startedAt = performance.now()
      await setImmediate()
      while (performance.now() - startedAt < 30);
      work.endedAt = performance.now()
      work.tookMs = work.endedAt - startedAt
    })
    turns.take(openConnection('b'), LARGE, () => {
      work.nextAt = performance.now()
    })
    await expect.poll(() => work.nextAt).toBeGreaterThan(0)
    // A timer of Node counts in whole milliseconds.
    expect(work.nextAt - work.endedAt).toBeGreaterThan(work.tookMs - 2)
  })

  it('The bodies of different holders take turns, however many one holder sends', async () => {
    const { take, begun } = createTurns()
    const flood = createHolder('flood')
    for (let n = 0; n < 10; n += 1) take(openConnection('', flood), LARGE, 'flood')
    take(openConnection('honest'), LARGE, 'honest')
    await expect.poll(() => begun).toHaveLength(11)
    expect(begun.indexOf('honest')).toBe(1)
  })

  it('A body is not handled once its connection has ended or was refused', async () => {
    const { take, begun } = createTurns()
    const [closed, refused] = [openConnection('closed'), openConnection('refused')]
    take(closed, LARGE, 'closed')
    take(refused, LARGE, 'refused')
    take(openConnection('last'), LARGE, 'last')
    closed.socket.destroy()
    refused.isRefused = true
    await expect.poll(() => begun).toEqual(['last'])
  })
})
