import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Serves branches. `paths` lists the calls that came, and `answer` gives the status of each, when the test wants to
 * answer.
 */
export class Participant implements AsyncDisposable {
  readonly paths: string[] = []
  readonly url: string
  readonly #server: ReturnType<typeof createServer>
  readonly #waiting = new Set<() => void>()

  private constructor(server: ReturnType<typeof createServer>, url: string) {
    this.#server = server
    this.url = url
  }

  static async open(answer: (path: string) => number | Promise<number> = () => 200): Promise<Participant> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const participant = new Participant(server, `http://127.0.0.1:${port}`)
    server.on('request', async (request, response) => {
      const path = (request.url ?? '').split('?', 1)[0] ?? ''
      participant.#note(path)
      response.writeHead(await answer(path), { 'content-type': 'application/json' }).end('{}')
    })
    return participant
  }

  /** Resolves when that path has been called. */
  async called(path: string): Promise<void> {
    while (!this.paths.includes(path)) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  #note(path: string): void {
    this.paths.push(path)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
