import { EventEmitter } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type Connection, findConnection } from '../src/connection.ts'
import { Holders, TRUST_MS } from '../src/holders.ts'

class PlayedSocket extends EventEmitter {
  readonly remoteAddress: string
  destroyed = false

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

function from(address: string): Connection {
  return findConnection(new PlayedSocket(address) as unknown as Socket)
}

function listEnded(connections: readonly Connection[]): readonly boolean[] {
  return connections.map(({ socket }) => socket.destroyed)
}

function countEnded(connections: readonly Connection[]): number {
  return connections.filter(({ socket }) => socket.destroyed).length
}

function askSomething(connection: Connection): void {
  new ServerResponse(new IncomingMessage(new Socket())).assignSocket(connection.socket)
}

function createHolders(limits: Partial<ConstructorParameters<typeof Holders>[0]>) {
  const reached: string[] = []
  const good = new Set<string>()
  const clock = { nowMs: 1_000 }
  const bounds = { connectionsMax: 1_000, strangersPerAddressMax: 1_000, unreadBodyBytesMax: 1_000 }
  const holders = new Holders(
    { ...bounds, ...limits },
    ({ socket }, bound) => {
      socket.destroy()
      reached.push(bound)
    },
    () => clock.nowMs,
  )
  const add = (address: string): Connection => {
    const connection = from(address)
    holders.add(connection)
    return connection
  }
  /** Adds a connection that has shown this key. */
  const addWith = (key: string, address = '192.0.2.1'): Connection => {
    const connection = add(address)
    if (!connection.socket.destroyed) show(connection, key)
    return connection
  }
  const show = (connection: Connection, key: string): void => {
    good.add(key)
    holders.trust(connection, key, (caller) => good.has(caller))
  }
  const addMany = (count: number, key: string) => Array.from({ length: count }, () => addWith(key))
  return { holders, reached, good, clock, add, addWith, addMany, show }
}

describe('S41: connections that have not shown a good key', () => {
  it('A network counts for an hour as one that has shown a good key, and an address that needs none never does', () => {
    const { holders, add, addWith, clock } = createHolders({})
    addWith('key-a', '192.0.2.1')
    holders.trust(add('192.0.2.2'), '192.0.2.2', () => true)
    const shown = () => ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((each) => holders.hasShownKey(from(each)))
    expect(shown()).toEqual([true, false, false])
    clock.nowMs += 3_599_999
    expect(shown()).toEqual([true, false, false])
    clock.nowMs += 1
    expect(shown()).toEqual([false, false, false])
  })

  it('A network whose key is no longer good counts as one that has shown none', () => {
    const { holders, addWith, good } = createHolders({})
    addWith('key-a', '192.0.2.1')
    good.delete('key-a')
    expect(holders.hasShownKey(from('192.0.2.1'))).toBe(false)
  })

  it('A network whose one connection goes on to show a good key counts from the last time', () => {
    const { holders, add, addWith, clock } = createHolders({})
    const known = addWith('key-a', '192.0.2.1')
    for (let minute = 0; minute < 90; minute++) {
      clock.nowMs += 60_000
      holders.trust(known, 'key-a', () => true)
      add('192.0.2.9')
    }
    expect(holders.hasShownKey(from('192.0.2.1'))).toBe(true)
    clock.nowMs += 3_600_001
    expect(holders.hasShownKey(from('192.0.2.1'))).toBe(false)
  })

  it('Connections without a good key make room for new ones, the oldest first, whatever their address', () => {
    const { holders, reached, add, show } = createHolders({ connectionsMax: 3 })
    const [a, b, c] = [add('192.0.2.1'), add('192.0.2.2'), add('192.0.2.3')]
    expect(reached).toEqual([])
    show(a, 'key')
    const [d, e] = [add('192.0.2.4'), add('192.0.2.5')]
    expect(reached).toEqual(['connections', 'connections'])
    expect(listEnded([a, b, c, d, e])).toEqual([false, true, true, false, false])
    expect(holders.connections).toBe(3)
  })

  it('Connections without a good key of one IPv6 network count as of one address, and closed ones do not count', () => {
    const { holders, add } = createHolders({ strangersPerAddressMax: 2 })
    const all = [add('2001:db8::1'), add('2001:db8::2'), add('2001:db8::3')]
    add('2001:db8:0:1::1')
    expect(listEnded(all)).toEqual([true, false, false])
    all[1]?.socket.destroy()
    expect(add('2001:db8::4').socket.destroyed).toBe(false)
    expect(holders.connections).toBe(3)
  })

  it('Connections without a good key of one address have at most half of the places that others leave', () => {
    const { addMany, add } = createHolders({ connectionsMax: 16 })
    addMany(14, 'key')
    const [a, b, c] = [add('192.0.2.7'), add('192.0.2.7'), add('192.0.2.8')]
    expect(listEnded([a, b, c])).toEqual([true, false, false])
  })
})

describe('S41: connections that have shown a good key', () => {
  it('A key that opens many connections leaves places to newcomers, and its own connections make room', () => {
    const { holders, addMany, addWith, add } = createHolders({ connectionsMax: 16 })
    const honest = addWith('honest')
    const flood = addMany(40, 'flood')
    expect(holders.connections).toBe(14)
    expect(countEnded(flood)).toBe(27)
    const operator = add('192.0.2.9')
    const more = addMany(5, 'flood')
    expect(listEnded([honest, operator])).toEqual([false, false])
    expect(countEnded([...flood, ...more])).toBe(32)
  })

  it('Places for connections are shared evenly by those who want them, be they keys or addresses', () => {
    const { addMany, addWith } = createHolders({ connectionsMax: 16 })
    const flood = addMany(30, 'flood')
    const others = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].flatMap((address) =>
      Array.from({ length: 3 }, () => addWith(address, address)),
    )
    expect(countEnded(others)).toBe(0)
    expect(countEnded(flood)).toBe(25)
  })

  it('Addresses without a key that are in one IPv6 network share one part', () => {
    const { addWith } = createHolders({ connectionsMax: 16 })
    const flood = Array.from({ length: 14 }, (_, n) => addWith(`fd00::${n + 1}`, `fd00::${n + 1}`))
    const other = addWith('fd00:0:0:1::1', 'fd00:0:0:1::1')
    expect([countEnded(flood), other.socket.destroyed]).toEqual([1, false])
  })

  it('The oldest connection that waits for no answer ends first, and the newest where all of them wait', () => {
    const { addMany, addWith } = createHolders({ connectionsMax: 16 })
    const all = addMany(14, 'flood')
    for (const each of all) if (each !== all[3]) askSomething(each)
    const next = addWith('flood')
    expect(all.filter(({ socket }) => socket.destroyed)).toEqual([all[3]])
    askSomething(next)
    const other = addWith('honest')
    expect([countEnded(all), next.socket.destroyed, other.socket.destroyed]).toEqual([1, true, false])
  })

  it('The connections of a revoked key count as without a good key again, and make room like those', () => {
    const { good, clock, addMany, add } = createHolders({
      connectionsMax: 16,
      strangersPerAddressMax: 2,
    })
    const flood = addMany(14, 'flood')
    for (const each of flood.slice(0, 7)) askSomething(each)
    good.delete('flood')
    clock.nowMs += 1_000
    const next = add('192.0.2.9')
    expect(countEnded(flood)).toBe(12)
    const open = [...flood, next].filter(({ socket }) => !socket.destroyed)
    expect(open.map(({ caller }) => caller)).toEqual([undefined, undefined, undefined])
  })

  it('A connection counts as without a good key again when it shows none for a while, unless it waits for an answer', () => {
    const { clock, addMany, add, show } = createHolders({})
    const [idle, answering, asking] = addMany(3, 'key')
    if (idle === undefined || answering === undefined || asking === undefined)
      throw new Error('no connection')
    askSomething(answering)
    const endTrust = () => {
      add('192.0.2.9').socket.destroy()
      return [idle, answering, asking].filter(({ caller }) => caller === undefined)
    }
    expect(endTrust()).toEqual([])
    clock.nowMs += 2_000
    expect(endTrust()).toEqual([])
    clock.nowMs += TRUST_MS
    show(asking, 'key')
    expect(endTrust()).toEqual([])
    clock.nowMs += 1_000
    expect(endTrust()).toEqual([idle])
    show(idle, 'key')
    expect(endTrust()).toEqual([])
  })

  it('One key may have all places for connections but a few where there is no other (mutant of the others)', () => {
    const { addMany } = createHolders({ connectionsMax: 16 })
    expect(countEnded(addMany(14, 'key'))).toBe(0)
  })
})

describe('S41: bytes of unfinished bodies', () => {
  it('Over the bound of bytes, the largest body ends of the holder that has the most, and no body of another', () => {
    const { holders, addMany, addWith, reached } = createHolders({})
    const honest = addWith('honest')
    holders.hold(honest, 450)
    const [first, second] = addMany(2, 'flood')
    if (first === undefined || second === undefined) throw new Error('no connection')
    holders.hold(first, 200)
    holders.hold(second, 300)
    holders.hold(first, 51)
    expect(listEnded([honest, first, second])).toEqual([false, false, true])
    expect([holders.bytes, reached]).toEqual([701, ['unread-body-bytes']])
  })

  for (const { held, ended } of [
    { held: 260, ended: [false, true] },
    { held: 240, ended: [true, false] },
  ]) {
    const [of, who] = [held, ended[1] ? 'end first' : 'lose nothing to a key that holds the rest']
    it(`Unfinished bodies of ${of} in 1,000 bytes without a good key ${who}`, () => {
      const { holders, addWith, good, clock, add } = createHolders({})
      const [honest, revoked] = [addWith('honest'), addWith('revoked')]
      holders.hold(honest, 700)
      holders.hold(revoked, held)
      good.delete('revoked')
      clock.nowMs += 1_000
      add('192.0.2.9')
      holders.hold(honest, 100)
      expect(listEnded([honest, revoked])).toEqual(ended)
    })
  }

  it('The bytes of an unfinished body count for the new holder when another key is shown, and are released once', () => {
    const { holders, addWith, show } = createHolders({})
    const [one, other] = [addWith('a'), addWith('b')]
    holders.hold(one, 600)
    show(one, 'b')
    holders.hold(other, 300)
    expect(one.holder?.heldBytes).toBe(900)
    holders.release(one, 600)
    one.socket.destroy()
    holders.release(one, 600)
    expect([holders.bytes, other.holder?.heldBytes]).toEqual([300, 300])
  })

  it('No bytes are counted for a connection that has ended', () => {
    const { holders, addWith } = createHolders({})
    const one = addWith('a')
    one.socket.destroy()
    holders.hold(one, 600)
    expect(holders.bytes).toBe(0)
  })
})
