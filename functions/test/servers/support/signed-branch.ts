import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signedCallCheck } from '@counterstep/sdk/signatures'

export interface ArrivedCall {
  readonly gid: string
  readonly branchId: string
  readonly op: string
  readonly attempt: number
  /** This is an instant of this process's monotonic clock. */
  readonly arrivedAt: number
}

export interface BranchAnswer {
  readonly status: number
  readonly retryAfterS?: number
}

/** Serves all branches. It answers 401 to every call that the orchestrator has not signed. */
export class SignedBranch {
  /** A test that wants another answer replaces this. */
  rule: (call: ArrivedCall) => BranchAnswer = () => ({ status: 200 })
  /** It has the reason of each refused call. */
  readonly refused: string[] = []
  readonly #calls: ArrivedCall[] = []
  /** It is created when the port, and so the base URL, is known. */
  #check: ReturnType<typeof signedCallCheck> | undefined
  readonly #publicKey: string
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  constructor(publicKey: string) {
    this.#publicKey = publicKey
  }

  async start(): Promise<void> {
    // An environment keeps its connections, and the server must not close one while a call is sent on it.
    this.#server.keepAliveTimeout = 120_000
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.#check = signedCallCheck({ keys: [this.#publicKey], baseUrl: this.url })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  calls(gid: string): readonly ArrivedCall[] {
    return this.#calls.filter((call) => call.gid === gid)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const body = Buffer.concat(await request.toArray())
    if (this.#check === undefined) throw new Error('start() has not ended')
    const refused = this.#check({ method, url: `${this.url}${url}`, headers, body })
    if (refused !== undefined) {
      this.refused.push(String(refused.error))
      response.writeHead(401).end()
      return
    }
    const { searchParams } = new URL(url, this.url)
    const call = {
      gid: searchParams.get('gid') ?? '',
      branchId: searchParams.get('branch_id') ?? '',
      op: searchParams.get('op') ?? '',
      attempt: Number(headers['counterstep-attempt']),
      arrivedAt: performance.now(),
    }
    this.#calls.push(call)
    const { status, retryAfterS } = this.rule(call)
    const wait = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
    response.writeHead(status, { 'content-type': 'application/json', ...wait }).end('{}')
  }
}
