import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Store } from '@counterstep/core'

/** A call of a connected process. It is one line, and has the caller's own clock. */
export interface ServedCall {
  readonly id: number
  readonly verb: keyof Store
  readonly arguments: readonly unknown[]
  readonly callerNow: number
}

/** Serves one store of this process to others, so that they can share it like a database. */
export class StoreServer {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  /** Each call is answered by `route`, whose second argument is the number of the connection. */
  constructor(route: (call: ServedCall, connection: number) => Promise<unknown>) {
    let connections = 0
    this.#server = createServer((socket) => {
      const connection = connections++
      this.#sockets.add(socket)
      createInterface(socket).on('line', async (line) => {
        const call = JSON.parse(line) as ServedCall
        const answer = await route(call, connection).then(
          (result) => ({ id: call.id, result }),
          (error: unknown) => ({ id: call.id, error: String(error) }),
        )
        socket.write(`${JSON.stringify(answer)}\n`)
      })
    })
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the server has no port')
    return address.port
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
