import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

export interface PlayedAnswer {
  readonly status?: number
  readonly body?: string
  readonly location?: string
  /** The service waits this long before it answers. */
  readonly delayMs?: number
  readonly hangUp?: boolean
}

export interface ReceivedCall {
  readonly method: string
  /** This is the path with its query, without the prefix that tells the tests apart. */
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

/** Plays the services of one test: it has their answers by path and notes the calls that they get. */
export class PlayedBranches {
  readonly calls: ReceivedCall[] = []
  readonly url: string
  readonly #answers: Readonly<Record<string, readonly PlayedAnswer[]>>
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Set<() => void>()

  constructor(url: string, answers: Readonly<Record<string, readonly PlayedAnswer[]>>) {
    this.url = url
    this.#answers = answers
  }

  /** The n-th call of a path gets its n-th answer, each further one the last. */
  take(call: ReceivedCall): PlayedAnswer {
    this.calls.push(call)
    for (const wake of [...this.#waiting]) wake()
    const path = call.target.split('?', 1)[0] ?? ''
    const count = this.#counts.get(path) ?? 0
    this.#counts.set(path, count + 1)
    const answers = this.#answers[path] ?? []
    return answers[Math.min(count, answers.length - 1)] ?? {}
  }

  /** Resolves when that many calls have come. */
  async waitForCalls(times: number): Promise<void> {
    while (this.calls.length < times) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake)
          resolve()
        }
        this.#waiting.add(wake)
      })
    }
  }
}

/** One HTTP server for the branches of many tests, told apart by the first segment of the path. */
export class BranchService implements AsyncDisposable {
  readonly #server: Server
  readonly #played = new Map<string, PlayedBranches>()

  private constructor(server: Server) {
    this.#server = server
    server.on('request', (request, response) => void this.#answer(request, response))
  }

  static async open(): Promise<BranchService> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new BranchService(server)
  }

  play(answers: Readonly<Record<string, readonly PlayedAnswer[]>> = {}): PlayedBranches {
    const { port } = this.#server.address() as AddressInfo
    const prefix = `s${this.#played.size}`
    const played = new PlayedBranches(`http://127.0.0.1:${port}/${prefix}`, answers)
    this.#played.set(prefix, played)
    return played
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, prefix = '', target = ''] = /^\/(s\d+)(.*)$/.exec(request.url ?? '') ?? []
    const played = this.#played.get(prefix)
    const body = await text(request)
    if (played === undefined) throw new Error(`no test plays this branch: ${request.url}`)
    const headers = toPairs(request.rawHeaders)
    const answer = played.take({ method: request.method ?? '', target, headers, body })
    if (answer.delayMs !== undefined) await delay(answer.delayMs)
    if (answer.hangUp === true) {
      request.socket.destroy()
      return
    }
    const location = answer.location?.replaceAll('{{busi}}', played.url)
    response.writeHead(answer.status ?? 200, {
      'content-type': 'application/json',
      ...(location === undefined ? {} : { location }),
    })
    response.end(answer.body ?? '{"dtm_result":"SUCCESS"}')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function toPairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as [string, string]] : [],
  )
}
