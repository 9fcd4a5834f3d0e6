import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { OPS, type PlanCall } from '@counterstep/protocol'
import { freePort } from '@counterstep/test-servers'
import { Pool } from 'undici'
import type { BranchCallNote } from '../evidence.ts'
import { findTokens } from '../tokens/token.ts'
import type { CallFates, CallKey } from './call-fate.ts'
import { WithheldCalls } from './withheld-calls.ts'

export type { CallFates } from './call-fate.ts'

const ANSWER_MS_MAX = 20_000
const SAMPLES_MAX = 500
/** One of so many requests may be sent again when everything is over. */
const SAMPLE_EVERY = 7
const CONNECTIONS_MAX = 64
const DRAIN_LOOK_MS = 20

/** One request of the orchestrator, kept whole so that it can arrive again. */
interface KeptCall {
  readonly key: CallKey
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

interface BankAnswer {
  readonly statusCode: number
  readonly contentType: string | undefined
  readonly body: string
}

/** Counts of what the network before one bank did to requests. */
export interface RepeaterCounts {
  doubled: number
  late: number
  lost: number
  withheld: number
  replayed: number
}

/** Stands before a bank and notes every arrival; it delivers some requests twice, some late, some never. */
export class BranchRepeater {
  readonly port: number
  readonly notes: BranchCallNote[] = []
  readonly counts: RepeaterCounts = { doubled: 0, late: 0, lost: 0, withheld: 0, replayed: 0 }
  readonly #server: Server
  readonly #bank: Pool
  readonly #fates: CallFates
  readonly #withheld = new WithheldCalls<KeptCall>()
  readonly #samples: KeptCall[] = []
  #seen = 0
  #copiesUnderWay = 0

  private constructor(port: number, bankUrl: string, fates: CallFates) {
    this.port = port
    this.#fates = fates
    this.#bank = new Pool(bankUrl, { connections: CONNECTIONS_MAX, bodyTimeout: ANSWER_MS_MAX })
    this.#server = createServer((request, response) => void this.#serve(request, response))
  }

  static async start(bankUrl: string, fates: CallFates): Promise<BranchRepeater> {
    const repeater = new BranchRepeater(await freePort(), bankUrl, fates)
    repeater.#server.listen(repeater.port, '127.0.0.1')
    await once(repeater.#server, 'listening')
    return repeater
  }

  /** Delivers what is still kept, and waits until every copy was answered. */
  async drain(): Promise<void> {
    for (const call of this.#withheld.takeAll()) this.#deliverLater(call, 0)
    while (this.#copiesUnderWay > 0) await delay(DRAIN_LOOK_MS)
  }

  /** Sends some requests of the whole run again, like a network that has kept them for long. */
  async replay(): Promise<void> {
    for (const call of this.#samples.splice(0)) {
      this.counts.replayed += 1
      this.#deliverLater(call, 0)
    }
    await this.drain()
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
    await this.#bank.destroy()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A caller that is gone: what it asked for goes its way.
    response.on('error', () => undefined)
    let call: KeptCall
    try {
      call = await keptCall(request)
    } catch {
      request.socket.destroy()
      return
    }
    this.#sample(call)
    const fate = this.#fates(call.key)
    switch (fate.type) {
      case 'double':
        this.counts.doubled += 1
        this.#deliverLater(call, fate.afterMs)
        break
      case 'late':
        this.counts.late += 1
        this.#deliverLater(call, fate.afterMs)
        request.socket.resetAndDestroy()
        return
      case 'lose':
        this.counts.lost += 1
        request.socket.resetAndDestroy()
        return
      case 'withhold':
        this.counts.withheld += 1
        this.#withheld.keep(call.key, call)
        request.socket.resetAndDestroy()
        return
      case 'pass':
    }
    const answer = await this.#deliver(call, false, response)
    if (answer === undefined) request.socket.resetAndDestroy()
    else if (!response.destroyed) respond(response, answer)
  }

  #sample(call: KeptCall): void {
    this.#seen += 1
    if (this.#seen % SAMPLE_EVERY !== 0) return
    // The newest take the place of the oldest: some of every time remain.
    if (this.#samples.length < SAMPLES_MAX) this.#samples.push(call)
    else this.#samples[(this.#seen / SAMPLE_EVERY) % SAMPLES_MAX] = call
  }

  #deliverLater(call: KeptCall, afterMs: number): void {
    this.#copiesUnderWay += 1
    void this.#copy(call, afterMs)
  }

  async #copy(call: KeptCall, afterMs: number): Promise<void> {
    try {
      if (afterMs > 0) await delay(afterMs)
      await this.#deliver(call, true)
    } finally {
      this.#copiesUnderWay -= 1
    }
  }

  /** Undefined: the bank does not answer. A copy has no caller to respond to. */
  async #deliver(
    call: KeptCall,
    isCopy: boolean,
    response?: ServerResponse,
  ): Promise<BankAnswer | undefined> {
    const { key, path, headers, body } = call
    const note = { ...key, at: Date.now(), isCopy, ...describeRequest(call), ...readGrant(call) }
    try {
      const {
        statusCode,
        headers: head,
        body: stream,
      } = await this.#bank.request({
        method: 'POST',
        path,
        headers,
        body,
        headersTimeout: ANSWER_MS_MAX,
      })
      const text = await stream.text()
      const gone = response?.destroyed === true ? ({ isCallerGone: true } as const) : {}
      this.notes.push({ ...note, ...gone, statusCode, told: findTokens(text), ...readCode(text) })
      if (key.op === 'compensate') this.#releaseWithheld(key)
      const contentType = head['content-type']
      return {
        statusCode,
        contentType: typeof contentType === 'string' ? contentType : undefined,
        body: text,
      }
    } catch {
      // The connection broke, so it is unknown what the bank did.
      this.notes.push({ ...note, told: [] })
      return undefined
    }
  }

  #releaseWithheld(key: CallKey): void {
    for (const [index, call] of this.#withheld.take(key).entries()) this.#deliverLater(call, index * 50)
  }
}

/** Not what is of one connection. */
function isPassedOn(name: string): boolean {
  return name === 'content-type' || name.startsWith('x-') || name.startsWith('counterstep-')
}

/** Only the orchestrator's own headers may differ between the attempts of a call. */
function describeRequest({ path, headers, body }: Pick<KeptCall, 'path' | 'headers' | 'body'>) {
  const own = Object.entries(headers).filter(([name]) => !name.startsWith('counterstep-'))
  const text = JSON.stringify([path, own.sort(), body.toString('latin1')])
  return { request: hash('sha256', text), given: findTokens(text) }
}

/** A plan call that grants no slot has no effect, so it need not be the same each time. */
function readGrant({ key, body }: KeptCall): Pick<BranchCallNote, 'grant'> {
  if (key.op !== 'plan') return {}
  const { plan, grant, journal } = JSON.parse(body.toString()) as PlanCall
  if (grant.count === 0) return {}
  const lastSlot = grant.from + grant.count - 1
  return { grant: { plan, lastSlot, journal: journal.map((entry) => hash('sha256', JSON.stringify(entry))) } }
}

async function keptCall(request: IncomingMessage): Promise<KeptCall> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const path = request.url ?? '/'
  const query = new URL(path, 'http://bank').searchParams
  const op = OPS.find((each) => each === query.get('op'))
  const key = { gid: query.get('gid') ?? '', branchId: query.get('branch_id') ?? '', op: op ?? 'action' }
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' && isPassedOn(name) ? [[name, value] as const] : [],
  )
  return { key, path, headers: Object.fromEntries(headers), body: Buffer.concat(chunks) }
}

function respond(response: ServerResponse, { statusCode, contentType, body }: BankAnswer): void {
  response.writeHead(statusCode, contentType === undefined ? {} : { 'content-type': contentType })
  response.end(body)
}

function readCode(body: string): { readonly code?: string } {
  const code = /"code":"([A-Z_]+)"/.exec(body)?.[1]
  return code === undefined ? {} : { code }
}
