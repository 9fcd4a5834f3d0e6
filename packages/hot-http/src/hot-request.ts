import type { Socket } from 'node:net'
import { Listeners } from './listeners.ts'

/** A request that has arrived whole, as far as fastify asks for Node's IncomingMessage. */
export class HotRequest extends Listeners {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly socket: Socket
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly complete = true
  aborted = false
  readonly destroyed = false
  readableEnded = false
  readonly #body: Buffer

  constructor(
    line: { readonly method: string; readonly url: string },
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    socket: Socket,
  ) {
    super()
    this.method = line.method
    this.url = line.url
    this.headers = headers
    this.#body = body
    this.socket = socket
  }

  /** Who asked has gone before his answer. */
  abort(): void {
    this.aborted = true
    this.emit('close')
  }

  /** Gives the body to those who listen, at once and whole. */
  resume(): this {
    if (this.readableEnded) return this
    this.readableEnded = true
    if (this.#body.length > 0) this.emit('data', this.#body)
    this.emit('end')
    return this
  }
}
