import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type Connection, findConnection } from '../src/connection.ts'
import { Strangers } from '../src/strangers.ts'

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

function areEnded(connections: readonly Connection[]): readonly boolean[] {
  return connections.map(({ socket }) => socket.destroyed)
}

describe('S41: connections that have not shown a good key', () => {
  it('make room for new ones, the oldest first, whatever their address', () => {
    const strangers = new Strangers({ connectionsMax: 3, perAddressMax: 9 })
    const [a, b, c, d, e] = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'].map(from)
    if (!a || !b || !c || !d || !e) throw new Error('no connection')
    for (const each of [a, b, c]) expect(strangers.add(each)).toBeUndefined()
    strangers.trust(a)
    expect([strangers.add(d), strangers.add(e)]).toEqual(['connections', 'connections'])
    expect(areEnded([a, b, c, d, e])).toEqual([false, true, true, false, false])
    expect(strangers.connections).toBe(3)
  })

  it('are refused themselves when all others have shown one', () => {
    const strangers = new Strangers({ connectionsMax: 2, perAddressMax: 9 })
    const [a, b, c] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(from)
    if (!a || !b || !c) throw new Error('no connection')
    for (const each of [a, b]) {
      strangers.add(each)
      strangers.trust(each)
    }
    expect(strangers.add(c)).toBe('connections')
    expect(areEnded([a, b, c])).toEqual([false, false, true])
  })

  it('of one IPv6 network count as of one address, and those that left do not count', () => {
    const strangers = new Strangers({ connectionsMax: 100, perAddressMax: 2 })
    const all = [1, 2, 3].map((host) => from(`2001:db8::${host}`))
    for (const each of all) strangers.add(each)
    strangers.add(from('2001:db8:0:1::1'))
    expect(areEnded(all)).toEqual([true, false, false])
    all[1]?.socket.destroy()
    expect(strangers.add(from('2001:db8::4'))).toBeUndefined()
    expect(strangers.connections).toBe(3)
  })
})
