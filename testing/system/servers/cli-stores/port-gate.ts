import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A port that ends each connection, as a server that still starts, until it is opened; then it passes them on. */
export interface PortGate {
  readonly port: number
  open(): void
  close(): void
}

export async function startPortGate(target: {
  readonly host: string
  readonly port: number
}): Promise<PortGate> {
  let isOpen = false
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A connection that breaks is the other end's business; both are closed together.
    socket.on('error', () => socket.destroy())
  }
  const server = createServer((client) => {
    keep(client)
    if (!isOpen) {
      client.destroy()
      return
    }
    const upstream = connect(target)
    keep(upstream)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    open() {
      isOpen = true
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
