import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SlowLink {
  readonly url: string
  /** Sets the rate of each connection, each way, from now on. */
  slow(bytesPerSecond: number): void
  close(): Promise<void>
}

const TICK_MS = 20

/** A network that is never silent for long, and lets only a bounded number of bytes through. */
export async function startSlowLink(port: number): Promise<SlowLink> {
  let bytesPerMs = Number.MAX_SAFE_INTEGER
  const open = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ host: '127.0.0.1', port, noDelay: true })
    let passedAt = performance.now()
    const timer = setInterval(() => {
      // The timer may be late, so the elapsed time decides.
      const now = performance.now()
      const bytes = Math.floor(bytesPerMs * (now - passedAt))
      passedAt = now
      passOn(client, target, bytes)
      passOn(target, client, bytes)
    }, TICK_MS)
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      open.add(socket)
      // This listener makes the bytes wait until they are read.
      socket.on('readable', () => undefined)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        clearInterval(timer)
        open.delete(socket)
        other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    slow(bytesPerSecond) {
      bytesPerMs = bytesPerSecond / 1_000
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

function passOn(from: Socket, to: Socket, bytesMax: number): void {
  for (let left = bytesMax; left > 0 && from.readableLength > 0; ) {
    const chunk: Buffer | null = from.read(Math.min(left, from.readableLength))
    if (chunk === null) return
    left -= chunk.length
    to.write(chunk)
  }
}
