import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A byte comes so often that a connection is never idle for long, and no call is answered in time. */
const DRIBBLE_EVERY_MS = 500

/** A service that answers no call until it is healed. A path with `dribble` sends its answer byte by byte meanwhile. */
export class HangingService {
  readonly #server = createServer((request, response) => {
    this.#calls += 1
    request.resume()
    if (this.#isHealed) response.end('{}')
    else this.#hold(response, request.url?.includes('dribble') === true)
  })
  readonly #held = new Set<ServerResponse>()
  #calls = 0
  #isHealed = false

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The number of calls that have come. */
  get calls(): number {
    return this.#calls
  }

  /** The number of calls that have no answer and that their callers have not given up. */
  get held(): number {
    return this.#held.size
  }

  /** Answers the calls that are held, and all others from now on. */
  heal(): void {
    this.#isHealed = true
    for (const response of this.#held) response.end('{}')
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #hold(response: ServerResponse, dribbles: boolean): void {
    this.#held.add(response)
    const dribbling = dribbles ? setInterval(() => response.write(' '), DRIBBLE_EVERY_MS) : undefined
    response.on('close', () => {
      clearInterval(dribbling)
      this.#held.delete(response)
    })
  }
}
