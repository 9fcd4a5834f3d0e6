import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Behaviour, Meaning } from './behaviour.ts'
import { BranchCalls } from './branch-calls.ts'
import { BYTE_ANSWERS } from './byte-answers.ts'
import { type ConnectionBehaviour, connectionBehaviours } from './connection-behaviour.ts'
import { httpAnswers } from './http-answers.ts'
import { type Listening, listening } from './listening.ts'

/** One way to be hostile, and where. */
export interface HostileUrl {
  readonly name: string
  readonly meaning: Meaning
  readonly url: string
  readonly getsWell: boolean
}

/** Branches that do everything wrong until they are healed; beside them `/well`, and `/refuses` with 409. */
export class HostileBranches {
  readonly calls = new BranchCalls()
  readonly #listening: Listening
  readonly #behaviours = new Map<string, Behaviour>()
  #connections: readonly ConnectionBehaviour[] = []
  #trusted = ''
  #isWell = false
  #strayed = 0

  private constructor(server: HttpServer, place: Listening) {
    this.#listening = place
    for (const behaviour of [...BYTE_ANSWERS, ...httpAnswers(`${this.#url}/elsewhere`)])
      this.#behaviours.set(`/${behaviour.name}`, behaviour)
    server.on('request', (request, response) => this.#answer(request, response))
  }

  static async open(): Promise<HostileBranches> {
    const server = createServer()
    // An idle connection is the orchestrator's to end: an answer that is lost here would be one fault more.
    server.keepAliveTimeout = 0
    const branches = new HostileBranches(server, await listening(server))
    const { all, trusted } = await connectionBehaviours(server)
    branches.#connections = all
    branches.#trusted = trusted
    return branches
  }

  get wellUrl(): string {
    return `${this.#url}/well`
  }

  get refusingUrl(): string {
    return `${this.#url}/refuses-always`
  }

  /** Certificates in PEM, for NODE_EXTRA_CA_CERTS. */
  get trusted(): string {
    return this.#trusted
  }

  /** How many followed a redirect. */
  get strayed(): number {
    return this.#strayed
  }

  get urls(): readonly HostileUrl[] {
    const answers = [...this.#behaviours].map(([path, { name, meaning }]) => ({
      name,
      meaning,
      url: this.#url + path,
      getsWell: true,
    }))
    const connections = this.#connections.map(({ name, url, heal }) => ({
      name,
      meaning: 'again' as const,
      url: `${url}/well`,
      getsWell: heal !== undefined,
    }))
    const noTls = { name: 'speaks-no-tls', meaning: 'again' as const, getsWell: false }
    return [...answers, ...connections, { ...noTls, url: `${this.#url.replace('http:', 'https:')}/well` }]
  }

  /** Turns every branch that can be one into an ordinary branch. */
  heal(): void {
    this.#isWell = true
    for (const { heal } of this.#connections) heal?.()
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((behaviour) => behaviour.close()))
    await this.#listening.close()
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#listening.port}`
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.calls.watch(request, response)
    const path = request.url?.split('?')[0] ?? ''
    const behaviour = this.#behaviours.get(path)
    if (path === '/elsewhere') this.#strayed += 1
    // Answered when it has been read: until then it may still be on its way.
    request.resume()
    request.once('end', () => {
      if (path === '/refuses-always') response.writeHead(409).end('no')
      else if (behaviour === undefined || this.#isWell) response.end('ok')
      else behaviour.answer(response)
    })
  }
}
