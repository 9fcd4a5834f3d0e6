import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection that says what it is told to say, byte for byte, and keeps what comes back. */
export class RawConnection {
  readonly #socket: Socket
  readonly #closed: Promise<void>
  #received = ''
  #isClosed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    // One that the server resets has ended too; what it received before that counts.
    socket.on('error', () => socket.destroy())
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text
    })
    this.#closed = new Promise((resolve) =>
      socket.once('close', () => {
        this.#isClosed = true
        resolve()
      }),
    )
  }

  static async to(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url)
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    const connection = new RawConnection(socket)
    await once(socket, 'connect')
    return connection
  }

  /** One character for each byte. */
  send(bytes: string): void {
    this.#socket.write(bytes, 'latin1')
  }

  /** Says that nothing more will come, and still listens. */
  endSending(): void {
    this.#socket.end()
  }

  drop(): void {
    this.#socket.resetAndDestroy()
  }

  get received(): string {
    return this.#received
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The statuses of all answers so far, in their order. */
  get statuses(): readonly number[] {
    return [...this.#received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  }

  /** Waits until the server has ended the connection. Rejects if it does not in that time. */
  async ended(limitMs: number): Promise<this> {
    this.#socket.once('end', () => this.#socket.end())
    const late = AbortSignal.timeout(limitMs)
    await Promise.race([
      this.#closed,
      once(late, 'abort').then(() => {
        throw new Error(`the server kept the connection for ${limitMs} ms; it has said ${this.#received}`)
      }),
    ])
    return this
  }
}
