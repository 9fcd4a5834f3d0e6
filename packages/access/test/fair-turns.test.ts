import { AsyncLocalStorage } from 'node:async_hooks'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type Connection, findConnection, type Holder } from '../src/connection.ts'
import { FairTurns } from '../src/fair-turns.ts'

const RAW = new IncomingMessage(new Socket())
const TURN_MS = 12

function buildHead(headers: number): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), {
    rawHeaders: Array<string>(2 * headers).fill('h'),
  })
}

/** The clock stands still but for what requests take. */
function createTurns({ waitingMax = 2_048, bodyBytes = 0, turnMsMax = TURN_MS } = {}) {
  const clock = { nowMs: 1_000 }
  const begun: string[] = []
  const turns = new FairTurns(
    {
      ...{ perTurnMax: 4, turnMsMax, waitingMax },
      readBodyBytes: () => bodyBytes,
      hold: () => undefined,
      release: () => undefined,
    },
    () => clock.nowMs,
  )
  const work = (name: string, tookMs: number) => () => {
    begun.push(name)
    clock.nowMs += tookMs
  }
  return {
    turns,
    clock,
    work,
    /** The request takes so long. Returns whether it may wait, if it does not begin. */
    ask: (connection: Connection, name: string, tookMs: number) =>
      turns.begin(connection, work(name, tookMs), RAW),
    /** Lets the turn end, and returns the names of what has begun since. */
    async endTurn(): Promise<string> {
      await setImmediate()
      return begun.splice(0).join('')
    },
  }
}

const createKey = (name: string): Holder => createHolder(name, () => true)
const createAddress = (name: string): Holder => createHolder(name, undefined)

function createHolder(name: string, isGood: Holder['isGood']): Holder {
  return { name, isGood, connections: new Set(), heldBytes: 0 }
}

function open(holder: Holder, remoteAddress = holder.name): Connection {
  const caller = holder.isGood && holder.name
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
  return Object.assign(findConnection(socket), { holder, caller })
}

function openMany(holder: Holder, count: number): Connection[] {
  return Array.from({ length: count }, () => open(holder))
}

function countPaused(connections: readonly Connection[]): number {
  return connections.filter(({ isPaused }) => isPaused).length
}

describe('S41: requests of many connections in one turn of the event loop', () => {
  it('Those of all connections begin for a few milliseconds, and the others in the next turns', async () => {
    const { turns, ask, endTurn } = createTurns()
    const key = createKey('key')
    for (const name of 'abcdefghij') expect(ask(open(key), name, 3)).toBe(true)
    expect(turns.waitingCount).toBe(6)
    expect(await endTurn()).toBe('abcdefgh')
    expect(await endTurn()).toBe('ij')
    expect(turns.waitingCount).toBe(0)
  })

  it('Mutant: those of all connections begin in one turn where it has no bound', async () => {
    const { turns, ask } = createTurns({ turnMsMax: Number.POSITIVE_INFINITY })
    const address = createAddress('192.0.2.1')
    for (const each of openMany(address, 1_000)) ask(each, 's', 1)
    expect(turns.waitingCount).toBe(0)
  })

  it('Those that wait begin by turns of the holders of their connections', async () => {
    const { ask, endTurn } = createTurns()
    const [flood, honest] = [createKey('flood'), createKey('honest')]
    for (const each of openMany(flood, 100)) ask(each, 'f', 6)
    ask(open(honest), 'h', 6)
    expect(await endTurn()).toBe('fffh')
    expect(await endTurn()).toBe('ff')
  })

  it('Those of strangers have a small part of the time, and others do not wait for them', async () => {
    const { ask, endTurn } = createTurns()
    const [address, key] = [createAddress('192.0.2.1'), createKey('key')]
    for (const each of openMany(address, 100)) ask(each, 's', 0.1)
    ask(open(key), 'k', 0.1)
    expect(await endTurn()).toBe(`${'s'.repeat(10)}k${'s'.repeat(10)}`)
    for (const each of openMany(key, 3)) ask(each, 'k', 0.1)
    expect(await endTurn()).toBe(`kkk${'s'.repeat(10)}`)
  })

  it('A few strangers begin in each turn even if it has no time left, since they may show a key', async () => {
    const { turns, ask, endTurn } = createTurns()
    ask(open(createKey('key')), 'k', TURN_MS)
    const strangers = openMany(createAddress('192.0.2.1'), 9)
    for (const each of strangers) for (const name of 'ab') ask(each, name, 0)
    expect(turns.waitingCount).toBe(10)
    expect(await endTurn()).toBe(`k${'a'.repeat(8)}${'b'.repeat(8)}ab`)
  })

  it('Strangers have their part where others have more to begin than a turn has time for', async () => {
    const { ask, endTurn } = createTurns()
    const [address, key] = [createAddress('192.0.2.1'), createKey('key')]
    for (const each of openMany(key, 20)) ask(each, 'k', 2)
    for (const each of openMany(address, 8)) ask(each, '', 0)
    for (const each of openMany(address, 20)) ask(each, 's', 0.5)
    expect(await endTurn()).toBe('kkkkkkkskskkkk')
  })

  it('The time counts that a request takes by promises', async () => {
    const { turns, clock, work, endTurn } = createTurns()
    const key = createKey('key')
    turns.begin(open(key), work('x', TURN_MS), RAW)
    for (const name of 'abcd') {
      const begin = async () => {
        work(name, 0)()
        await undefined
        clock.nowMs += 9
      }
      turns.begin(open(key), () => void begin(), RAW)
    }
    expect(await endTurn()).toBe('xab')
    expect(await endTurn()).toBe('cd')
  })

  it('A turn behind one that has accepted a connection begins one request of one stranger', async () => {
    const { turns, ask, endTurn } = createTurns()
    const address = createAddress('192.0.2.1')
    const [first, second] = openMany(address, 2)
    if (first === undefined || second === undefined) throw new Error('two are open')
    turns.startNew(open(address))
    for (const name of 'abc') ask(first, name, 2)
    for (const name of 'xyz') ask(second, name, 2)
    turns.startNew(open(address))
    // One request is of the turn that was there, and one of the next, which has accepted a connection, too.
    expect(await endTurn()).toBe('ab')
    expect((await endTurn()).length).toBeGreaterThan(1)
  })

  it('A turn behind one that has accepted a connection begins two requests with a good key', async () => {
    const { turns, ask, endTurn } = createTurns()
    const key = createKey('key')
    const [first, ...others] = openMany(key, 5)
    if (first === undefined) throw new Error('five are open')
    turns.startNew(open(createAddress('192.0.2.1')))
    for (const name of 'abc') ask(first, name, 0)
    for (const each of others) ask(each, 'o', 0)
    turns.startNew(open(createAddress('192.0.2.1')))
    // Two of this turn, and two of the next, which has accepted a connection, too.
    expect(await endTurn()).toBe('abco')
    expect(await endTurn()).toBe('ooo')
  })

  it('A turn is short behind one that has accepted a connection, so that others that wait for that get in', async () => {
    const { turns, ask, endTurn } = createTurns()
    const key = createKey('key')
    turns.startNew(open(createAddress('192.0.2.1')))
    for (const each of openMany(key, 10)) ask(each, 'k', 3)
    expect(await endTurn()).toBe('kkkkk')
    expect(await endTurn()).toBe('kkkk')
  })
})

describe('S41: requests that wait, whose bodies come in chunks', () => {
  const CHUNKED = Object.assign(new IncomingMessage(new Socket()), {
    headers: { 'transfer-encoding': 'chunked' },
  })

  /** Each turn has no time for them, and begins one. Returns how many have waited at once. */
  async function flood(raw: IncomingMessage): Promise<number> {
    const { turns, ask, work, endTurn } = createTurns({ bodyBytes: 100 })
    const connections = openMany(createKey('flood'), 200)
    for (const each of connections) ask(each, 'f', 0)
    await endTurn()
    const honest = open(createKey('honest'))
    let waited = 0
    for (let turn = 0; turn < 60; turn++) {
      ask(honest, 'h', TURN_MS)
      for (const each of connections)
        if (each.isPaused !== true) expect(turns.begin(each, work('f', TURN_MS), raw)).toBe(true)
      waited = Math.max(waited, turns.waitingCount)
      await endTurn()
    }
    return waited
  }

  it('A few of them wait at once, since each may hold thousands of chunks', async () => {
    expect(await flood(CHUNKED)).toBeLessThanOrEqual(32)
  })

  it('Those with another body all wait, and each is held as its bytes', async () => {
    expect(await flood(RAW)).toBeGreaterThan(100)
  })

  it('No other connection waits for one of them', async () => {
    const { turns, ask, work, endTurn } = createTurns({ bodyBytes: 100 })
    const others = openMany(createKey('others'), 20)
    for (const each of others) ask(each, 'o', 0)
    await endTurn()
    ask(open(createKey('first')), 'a', TURN_MS)
    turns.begin(open(createKey('chunked')), work('c', 0), CHUNKED)
    expect(countPaused(others)).toBe(0)
    expect(await endTurn()).toBe('ac')
  })
})

describe('S41: the connections of strangers in a turn that has no more time for them', () => {
  it('None of them is read from, and then a few are in each turn', async () => {
    const { turns, ask, endTurn } = createTurns()
    const strangers = openMany(createAddress('192.0.2.1'), 100)
    for (const each of strangers) ask(each, 's', 0)
    await endTurn()
    const known = open(createKey('key'))
    ask(known, 'k', 0)
    for (const each of strangers.slice(0, 9)) ask(each, 's', 1)
    expect(countPaused(strangers)).toBe(100)
    expect(known.isPaused).not.toBe(true)
    await endTurn()
    expect([turns.waitingCount, countPaused(strangers)]).toEqual([0, 96])
    await endTurn()
    expect(countPaused(strangers)).toBe(92)
  })

  it('Addresses take turns, so that one with many connections delays no other', async () => {
    const { ask, endTurn } = createTurns()
    const flood = openMany(createAddress('192.0.2.1'), 100)
    const other = open(createAddress('192.0.2.2'))
    for (const each of [...flood, other]) ask(each, 's', 0)
    await endTurn()
    for (const each of flood.slice(0, 9)) ask(each, 's', 1)
    expect(other.isPaused).toBe(true)
    await endTurn()
    expect(other.isPaused).toBe(false)
  })

  it('New connections are read from now and then, though each turn brings very many requests of those with a key', async () => {
    const { turns, ask, endTurn } = createTurns()
    const known = openMany(createKey('key'), 5)
    const opened = openMany(createAddress('192.0.2.1'), 8)
    for (const each of opened) turns.startNew(each)
    const paused: number[] = []
    for (let turn = 0; turn < 40; turn++) {
      for (const each of known) for (let request = 0; request < 28; request++) ask(each, 'k', 0)
      await endTurn()
      paused.push(countPaused(opened))
    }
    expect([paused[0], paused[20], paused[39]]).toEqual([8, 4, 0])
  })

  describe('new connections of a holder that has lately brought very many requests over one', () => {
    const openNew = (turns: FairTurns, holder: Holder, count: number, hasShownKey = false) => {
      const opened = openMany(holder, count)
      for (const each of opened) expect(turns.startNew(each, hasShownKey)).toBe(true)
      return opened
    }
    const flood = ({ ask }: Pick<ReturnType<typeof createTurns>, 'ask'>, over: Connection, requests = 12) => {
      for (let request = 0; request < requests; request++) ask(over, 'c', 0)
    }

    it('They are read from behind those of others, one in a turn', async () => {
      const made = createTurns()
      const holder = createAddress('192.0.2.1')
      flood(made, open(holder))
      const late = openNew(made.turns, holder, 10)
      const others = ['192.0.2.2', '192.0.2.3'].flatMap((name) => openNew(made.turns, createAddress(name), 2))
      await made.endTurn()
      expect([countPaused(others), countPaused(late)]).toEqual([0, 9])
      await made.endTurn()
      expect(countPaused(late)).toBe(8)
    })

    it('Those that wait already go behind, too', async () => {
      const made = createTurns()
      const holder = createAddress('192.0.2.1')
      const late = openNew(made.turns, holder, 10)
      flood(made, open(holder))
      const others = openNew(made.turns, createAddress('192.0.2.2'), 4)
      await made.endTurn()
      expect([countPaused(others), countPaused(late)]).toEqual([0, 9])
    })

    it('All networks of one site of IPv6 count as one holder, and another site does not', async () => {
      const made = createTurns()
      flood(made, open(createAddress('2001:db8:1:2::1')))
      const late = openNew(made.turns, createAddress('2001:db8:1:3::1'), 4)
      const others = openNew(made.turns, createAddress('2001:db8:2:2::1'), 4)
      await made.endTurn()
      expect([countPaused(others), countPaused(late)]).toEqual([0, 3])
    })

    it('They are read from as those of others after ten seconds', async () => {
      const made = createTurns()
      const holder = createAddress('192.0.2.1')
      flood(made, open(holder))
      made.clock.nowMs += 10_000
      const late = openNew(made.turns, holder, 4)
      await made.endTurn()
      expect(countPaused(late)).toBe(0)
    })

    it('Those of a network that has shown a good key come first, also in turns that only accept', async () => {
      const made = createTurns()
      const late = openNew(made.turns, createAddress('192.0.2.1'), 10)
      flood(made, open(createAddress('192.0.2.2')), 110)
      const first = openNew(made.turns, createAddress('192.0.2.3'), 6, true)
      await made.endTurn()
      expect([countPaused(first), countPaused(late)]).toEqual([2, 10])
      await made.endTurn()
      expect([countPaused(first), countPaused(late)]).toEqual([0, 10])
    })

    it('Those of a network that has shown a good key go behind if its site has become costly', async () => {
      const made = createTurns()
      const holder = createAddress('192.0.2.1')
      const late = openNew(made.turns, holder, 6, true)
      flood(made, open(holder))
      const others = openNew(made.turns, createAddress('192.0.2.2'), 4)
      await made.endTurn()
      expect([countPaused(others), countPaused(late)]).toEqual([0, 5])
    })

    it('A head of very many headers counts as several requests, so that four of them make its site a costly one', async () => {
      const made = createTurns()
      const [large, usual] = ['192.0.2.1', '192.0.2.2'].map((name) => open(createAddress(name)))
      if (large === undefined || usual === undefined) throw new Error('two are open')
      for (let request = 0; request < 4; request++) {
        made.turns.begin(large, made.work('l', 0), buildHead(66))
        made.turns.begin(usual, made.work('u', 0), buildHead(31))
      }
      const late = openNew(made.turns, createAddress('192.0.2.1'), 4)
      const others = openNew(made.turns, createAddress('192.0.2.2'), 4)
      await made.endTurn()
      expect([countPaused(late), countPaused(others)]).toEqual([3, 0])
    })

    it('Its site stays a costly one for as long as its connection goes on so', async () => {
      const made = createTurns()
      const holder = createAddress('192.0.2.1')
      const costly = open(holder)
      for (let seconds = 0; seconds < 60; seconds += 6) {
        made.clock.nowMs += 6_000
        flood(made, costly)
        const opened = openNew(made.turns, holder, 4)
        await made.endTurn()
        expect(countPaused(opened)).toBe(3)
        for (const each of [...opened, open(holder)]) each.socket.destroy()
        while (made.turns.waitingCount > 0) await made.endTurn()
      }
    })

    it('An address of IPv4 is a site of its own, also where a listener of IPv6 shows it as one of IPv6', async () => {
      const made = createTurns()
      flood(made, open(createAddress('::ffff:192.0.2.1')))
      const others = openNew(made.turns, createAddress('::ffff:192.0.2.2'), 4)
      const late = openNew(made.turns, createAddress('::ffff:192.0.2.1'), 4)
      await made.endTurn()
      expect([countPaused(others), countPaused(late)]).toEqual([0, 3])
    })

    it('A connection with a good key makes its address costly, too', async () => {
      const made = createTurns()
      flood(made, open(createKey('key'), '192.0.2.1'))
      const opened = openNew(made.turns, createAddress('192.0.2.1'), 4)
      await made.endTurn()
      expect(countPaused(opened)).toBe(3)
    })
  })

  it('A first request with a body waits for the next turn, and one behind it ends the connection', () => {
    const { ask } = createTurns({ bodyBytes: 100 })
    const [second, ...others] = openMany(createAddress('192.0.2.1'), 9) as [Connection, ...Connection[]]
    for (const each of others) ask(each, 'a', 1)
    expect(ask(second, 'b', 1)).toBe(true)
    expect(second.isPaused).toBe(true)
    expect(ask(second, 'c', 1)).toBe(false)
  })

  it('Their pipelined requests that wait take no room of those with a good key, and each may have one wait', () => {
    const { ask } = createTurns({ waitingMax: 8 })
    const [second, ...others] = openMany(createAddress('192.0.2.1'), 20) as [Connection, ...Connection[]]
    for (const each of others.splice(0, 8)) ask(each, 'a', TURN_MS)
    expect(ask(second, 'b', 0)).toBe(true)
    expect(ask(second, 'c', 0)).toBe(true)
    expect(ask(second, 'd', 0)).toBe(false)
    expect(others.map((each) => ask(each, 'e', 0))).toEqual(Array(11).fill(true))
    const known = open(createKey('key'))
    expect('12345678'.split('').map((name) => ask(known, name, 0))).toEqual(Array(8).fill(true))
  })

  it('What waits is given up when the connection closes', async () => {
    const { turns, ask, endTurn } = createTurns()
    const [first, second] = openMany(createKey('key'), 2) as [Connection, Connection]
    ask(first, 'a', TURN_MS)
    ask(second, 'b', 1)
    expect(turns.waitingCount).toBe(1)
    second.socket.destroy()
    await endTurn()
    expect(turns.waitingCount).toBe(0)
  })
})

describe('S41: requests whose sessions are looked for', () => {
  it('No other request of the connection begins until it is decided, and none if it is refused', async () => {
    const { turns, ask, work, endTurn } = createTurns()
    const [good, bad] = openMany(createAddress('192.0.2.1'), 2) as [Connection, Connection]
    for (const [connection, name] of [
      [good, 'g'],
      [bad, 'b'],
    ] as const) {
      turns.holdForSession(connection)
      ask(connection, name, 0)
      ask(connection, name, 0)
    }
    expect(await endTurn()).toBe('')
    turns.goOn(good, work('G', 0))
    turns.goOn(bad, () => {
      work('B', 0)()
      bad.isRefused = true
    })
    expect(await endTurn()).toBe('GggB')
    expect(turns.waitingCount).toBe(0)
  })

  it('Those of many connections that end their waits at once are decided by turns, in the time of strangers', async () => {
    const { turns, work, endTurn } = createTurns()
    const strangers = openMany(createAddress('192.0.2.1'), 10)
    for (const each of strangers) turns.holdForSession(each)
    for (const each of strangers) turns.goOn(each, work('s', 0.5))
    expect(await endTurn()).toBe('ss')
    expect(await endTurn()).toBe('ss')
  })

  it('Nothing is decided over a connection that has ended meanwhile', async () => {
    const { turns, work, endTurn } = createTurns()
    const closed = open(createAddress('192.0.2.1'))
    turns.holdForSession(closed)
    closed.socket.destroy()
    turns.goOn(closed, work('s', 0))
    expect(await endTurn()).toBe('')
    expect(turns.waitingCount).toBe(0)
  })

  it('A request is decided whose connection was refused for a later one, since that answer waits for its own', async () => {
    const { turns, ask, work, endTurn } = createTurns()
    const refused = open(createAddress('192.0.2.1'))
    turns.holdForSession(refused)
    ask(refused, 'l', 0)
    refused.isRefused = true
    turns.goOn(refused, work('s', 0))
    expect(await endTurn()).toBe('s')
    expect(turns.waitingCount).toBe(0)
  })
})

describe('A request that begins in a turn', () => {
  it('keeps its own async context where it has waited', async () => {
    const { turns, clock, endTurn } = createTurns()
    const callers = new AsyncLocalStorage<string>()
    const key = createKey('key')
    const seen: (string | undefined)[] = []
    for (const name of ['one', 'two', 'three']) {
      const begin = () => {
        seen.push(callers.getStore())
        clock.nowMs += TURN_MS
      }
      callers.run(name, () => turns.begin(open(key), begin, RAW))
    }
    expect(seen).toEqual(['one'])
    for (let turn = 0; turn < 3; turn++) await endTurn()
    expect(seen).toEqual(['one', 'two', 'three'])
  })

  it('leaves nothing behind if its connection has closed before', async () => {
    const { ask, endTurn } = createTurns()
    const closed = open(createKey('key'))
    closed.socket.destroy()
    await endTurn()
    const listeners = closed.socket.listenerCount('close')
    ask(closed, 'c', 0)
    expect(closed.socket.listenerCount('close')).toBe(listeners)
  })

  it('and was only late leaves its connection read from at once, and a full one waits for its turn to be read', async () => {
    const { turns, ask, endTurn } = createTurns({ bodyBytes: 100 })
    const [first, late, full] = openMany(createKey('key'), 3) as [Connection, Connection, Connection]
    ask(first, 'a', TURN_MS)
    ask(late, 'b', 0)
    for (let n = 0; n < 33; n++) ask(full, 'f', 0)
    expect([late.isPaused, full.isPaused]).toEqual([true, true])
    await endTurn()
    expect([late.isPaused, full.isPaused]).toEqual([false, true])
    while (turns.waitingCount > 0) await endTurn()
    for (let turn = 0; turn < 20; turn++) await endTurn()
    expect(full.isPaused).toBe(false)
  })
})
