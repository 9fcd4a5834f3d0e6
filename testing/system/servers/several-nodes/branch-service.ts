import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Op, PlanAnswer, PlanCall } from '@counterstep/protocol'
import { ALREADY_COMPENSATED } from '@counterstep/protocol/barrier'
import { BranchLedger } from './branch-ledger.ts'

export interface BranchCall {
  readonly gid: string
  readonly branchId: string
  readonly op: Op
  readonly attempt: number
  readonly epoch: number
  readonly body: string
  /** Time of this process's monotonic clock. */
  readonly arrivedAt: number
}

/** A call and what became of it. */
export interface LoggedCall extends BranchCall {
  readonly statusCode?: number
  /** Refused: it came after its compensation. */
  readonly isHanging: boolean
}

/** `run`: have the effect. `refuse`: the business says no, and nothing is written. `wait`: ask again, and nothing is written. */
export type Verdict = 'run' | 'refuse' | 'wait'
export type BranchRule = (call: BranchCall) => Promise<Verdict>

/** The services behind all branches: each call is logged; its effect comes, behind a barrier, when the rule has let it go on. */
export class BranchService {
  readonly ledger = new BranchLedger()
  /** Replaced by a test that wants slow or failing branches. */
  rule: BranchRule = async () => 'run'
  readonly #calls = new Map<string, LoggedCall[]>()
  readonly #server: Server
  #url = ''

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
    // A node keeps its connections; none is cut under a call.
    this.#server.keepAliveTimeout = 120_000
  }

  static async start(): Promise<BranchService> {
    const service = new BranchService()
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve))
    service.#url = `http://127.0.0.1:${(service.#server.address() as AddressInfo).port}`
    return service
  }

  get url(): string {
    return this.#url
  }

  /** Lists the calls in the order of their arrival. */
  calls(gid: string): readonly LoggedCall[] {
    return this.#calls.get(gid) ?? []
  }

  /** How many calls beyond the first of each op were made for these transactions. */
  repeatedCalls(gids: Iterable<string>): number {
    let repeated = 0
    for (const gid of gids) {
      const calls = this.calls(gid)
      repeated += calls.length - new Set(calls.map(({ branchId, op }) => `${branchId} ${op}`)).size
    }
    return repeated
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readCall(request)
    const calls = this.#calls.get(call.gid) ?? []
    this.#calls.set(call.gid, calls)
    const index = calls.push({ ...call, isHanging: false }) - 1
    const verdict = await this.rule(call)
    const answer = verdict === 'run' ? this.#run(call) : ANSWERS[verdict]
    const { statusCode, body, isHanging } = answer
    calls[index] = { ...call, statusCode, isHanging }
    response.writeHead(statusCode, { 'content-type': 'application/json' }).end(body)
  }

  #run({ gid, branchId, op, body: text }: BranchCall) {
    if (op === 'plan') {
      const plan = JSON.parse(text) as PlanCall
      return { statusCode: 200, body: JSON.stringify(planOneCall(plan, this.#url)), isHanging: false }
    }
    const answer = this.ledger.commit(gid, branchId, op)
    const body = JSON.stringify({ done: `${gid} ${branchId}` })
    if (answer !== 'already-compensated') return { statusCode: 200, body, isHanging: false }
    return { statusCode: 409, body: JSON.stringify({ code: ALREADY_COMPENSATED }), isHanging: true }
  }
}

/** Plans one call, and ends once that has. */
function planOneCall({ v, gid, generation, plan, journal }: PlanCall, service: string): PlanAnswer {
  const answer = { v, gid, generation, plan, version: 1, ran: [] }
  // biome-ignore lint/suspicious/noThenProperty: it is the wire's name.
  if (journal.length > 0) return { ...answer, next: [], then: { done: 'planned' } }
  const url = `${service}/do`
  const branch = { action: url, compensation: `${service}/undo` }
  // biome-ignore lint/suspicious/noThenProperty: it is the wire's name.
  return { ...answer, next: [{ id: 'only', is: 'call', name: url, branch }], then: 'all' }
}

const ANSWERS = {
  refuse: { statusCode: 409, body: '{"code":"REFUSED"}', isHanging: false },
  wait: { statusCode: 425, body: '{}', isHanging: false },
} as const

async function readCall(request: IncomingMessage): Promise<BranchCall> {
  const arrivedAt = performance.now()
  const { searchParams } = new URL(request.url ?? '', 'http://branch')
  const header = (name: string) => Number(request.headers[name] ?? Number.NaN)
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return {
    gid: searchParams.get('gid') ?? '',
    branchId: searchParams.get('branch_id') ?? '',
    op: searchParams.get('op') as Op,
    attempt: header('counterstep-attempt'),
    epoch: header('counterstep-epoch'),
    body,
    arrivedAt,
  }
}
