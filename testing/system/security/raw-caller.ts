import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** A caller that sends bytes as they are and never closes its side. */
export class RawCaller {
  readonly #socket: Socket
  #received = ''
  #isEnded = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => this.#end())
    socket.on('end', () => this.#end())
    socket.on('close', () => this.#end())
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text
    })
  }

  static async to(app: FastifyInstance): Promise<RawCaller> {
    const { port } = app.server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const caller = new RawCaller(socket)
    await once(socket, 'connect')
    return caller
  }

  send(text: string): void {
    this.#socket.write(text, 'latin1')
  }

  /** Reads nothing of what comes, until `resume`. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  drop(): void {
    this.#socket.destroy()
  }

  get port(): number {
    return this.#socket.localPort ?? 0
  }

  /** Whether the server has ended the connection. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  get statuses(): readonly number[] {
    return [...this.#received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  }

  #end(): void {
    this.#isEnded = true
  }
}
