import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

export interface Listening {
  readonly port: number
  /** Ends every connection, also one that nobody reads. */
  close(): Promise<void>
}

export async function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    // What the other side does to the connection of a hostile branch is no news.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
