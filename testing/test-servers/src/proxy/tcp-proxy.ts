import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { freePort } from '../free-port.ts'
import { ProxiedConnection, type ProxyCounts, type ProxyState } from './proxied-connection.ts'
import { type ProxyFault, ProxyFaults, type RequestTrigger } from './proxy-fault.ts'
import type { Address } from './tcp-answer.ts'

/** A network between a client and a server that fails on demand. At the start it works. */
export interface TcpProxy {
  readonly port: number
  /** The same url with the proxy's address. */
  through(url: string): string
  counts(): Readonly<ProxyCounts>
  openConnections(): number

  /** Resets all connections now. */
  cut(): void
  /** Resets each new connection at once, until `accept`. */
  refuse(): void
  accept(): void

  /** Drops all bytes both ways, and the ends of connections, until `heal`, which resets the connections that have lost some. */
  blackHole(): void
  heal(): void
  /** Keeps all bytes both ways until `release` delivers them, like a network that comes back soon enough. */
  hold(): void
  release(): void
  /** Delays each byte, each way. */
  latency(ms: number): void
  /** Cuts all bytes, each way, into pieces that arrive one after the other, until `unslice`. */
  slice(bytes: number, gapMs: number): void
  unslice(): void

  /**
   * Passes on the next matching bytes of a client, so that the server does what they ask, then drops the answer and resets
   * the client's connection. The callback `matches` gets the bytes of one read: one packet of a MySQL client, or one or more
   * commands of a Redis client.
   */
  dropAnswerWhen(matches: RequestTrigger, times?: number): ProxyFault
  /**
   * Passes on the next matching bytes of a client and resets its connection at once, while the server may still be at work.
   * The server gets the end of the connection after the request, and a database carries out what it has got. A pooler that
   * still waits for a server connection may forget it.
   */
  cutAfter(matches: RequestTrigger, times?: number): ProxyFault
  /** Drops the next matching bytes of a client and resets the connection, so that the server never gets them. */
  cutBefore(matches: RequestTrigger, times?: number): ProxyFault

  /** Resets all open connections and stops listening. */
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1 and connects each client to the target. */
export async function startTcpProxy(target: Address): Promise<TcpProxy> {
  const port = await freePort()
  const state: ProxyState = {
    faults: new ProxyFaults(),
    pipes: { latencyMs: 0, isHeld: false, slices: undefined },
    counts: { connections: 0, refused: 0, cut: 0, swallowedBytes: 0, answersDropped: 0, requestsDropped: 0 },
    isBlackHole: false,
  }
  const open = new Set<ProxiedConnection>()
  let isRefusing = false
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    state.counts.connections += 1
    if (isRefusing) refuse(client, state.counts)
    else {
      const connection = new ProxiedConnection(client, target, state, () => open.delete(connection))
      open.add(connection)
    }
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    port,
    ...makeRules(state, open),
    through: (url) => withAddress(url, port),
    counts: () => ({ ...state.counts }),
    openConnections: () => open.size,
    refuse() {
      isRefusing = true
    },
    accept() {
      isRefusing = false
    },
    dropAnswerWhen: (matches, times = 1) => state.faults.arm('answer', matches, times),
    cutAfter: (matches, times = 1) => state.faults.arm('connection', matches, times),
    cutBefore: (matches, times = 1) => state.faults.arm('request', matches, times),
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const connection of open) connection.reset()
      await closed
    },
  }
}

type Rules = Pick<
  TcpProxy,
  'cut' | 'blackHole' | 'heal' | 'hold' | 'release' | 'latency' | 'slice' | 'unslice'
>

function makeRules(state: ProxyState, open: ReadonlySet<ProxiedConnection>): Rules {
  const changePipes = (change: Partial<ProxyState['pipes']>) => {
    Object.assign(state.pipes, change)
    for (const connection of open) connection.move()
  }
  return {
    cut() {
      state.counts.cut += open.size
      for (const connection of open) connection.reset()
    },
    blackHole() {
      state.isBlackHole = true
    },
    heal() {
      state.isBlackHole = false
      for (const connection of open) connection.heal()
    },
    hold: () => changePipes({ isHeld: true }),
    release: () => changePipes({ isHeld: false }),
    latency: (ms) => changePipes({ latencyMs: ms }),
    slice: (bytes, gapMs) => changePipes({ slices: { bytes, gapMs } }),
    unslice: () => changePipes({ slices: undefined }),
  }
}

function refuse(client: Socket, counts: ProxyCounts): void {
  counts.refused += 1
  client.on('error', () => client.destroy())
  client.resetAndDestroy()
}

function withAddress(url: string, port: number): string {
  const changed = new URL(url)
  changed.hostname = '127.0.0.1'
  changed.port = String(port)
  return changed.href
}
