import { setTimeout as delay } from 'node:timers/promises'
import type { InvocationReport, LambdaFunction } from '@counterstep/lambda-emulator'
import { type FunctionFixture, startFunctionFixture } from './function-fixture.ts'

export interface FunctionFigures {
  readonly name: string
  readonly what: string
  readonly coldMs?: number
  readonly warmMs: number
  /** Packets to the store. */
  readonly roundTrips: number
  readonly rssMb: number
}

const COLD_STARTS = 9
const WARM = 200
const BATCHES = 20
const BATCH_GIDS = 10
const DELAY_MS = 2_000

/** Measures each handler on this machine: how long it takes to start, and to do its work in a warm environment. */
export async function measureFunctions(
  store: 'mysql' | 'redis',
  progress: (line: string) => void,
): Promise<readonly FunctionFigures[]> {
  const reports: InvocationReport[] = []
  const fixture = await startFunctionFixture(store, (report) => reports.push(report))
  try {
    const measured = new Measured(fixture, reports)
    progress('api')
    const api = await measured.row('api', 'a saga of three branches, waited for', () =>
      submission(fixture, { prefer: 'wait=10' }),
    )
    progress('worker')
    const one = await measured.worker(1)
    const ten = await measured.worker(BATCH_GIDS)
    progress('sweeper')
    const sweeper = await measured.row('sweeper', 'nothing is due', () => ({}))
    return [api, one, ten, sweeper]
  } finally {
    await fixture.stop()
  }
}

class Measured {
  readonly #fixture: FunctionFixture
  readonly #reports: InvocationReport[]

  constructor(fixture: FunctionFixture, reports: InvocationReport[]) {
    this.#fixture = fixture
    this.#reports = reports
  }

  async row(name: 'api' | 'sweeper', what: string, event: () => object): Promise<FunctionFigures> {
    const target = this.#fixture.functions[name]
    const coldMs = await this.#cold(target, event)
    await this.#invoke(target, event())
    const warm = await this.#warm(target, Array.from({ length: WARM }, event))
    return { name, what, coldMs, ...warm }
  }

  /** Messages that name sagas which have become due. */
  async worker(gids: number): Promise<FunctionFigures> {
    const target = this.#fixture.functions.worker
    const coldMs = gids === 1 ? await this.#cold(target, () => toMessage([])) : undefined
    const events: object[] = []
    for (let batch = 0; batch <= BATCHES; batch++) events.push(toMessage(await this.#delayed(gids)))
    await delay(DELAY_MS)
    await this.#invoke(target, events.pop() ?? {})
    const warm = await this.#warm(target, events)
    const what = gids === 1 ? 'a message of one saga' : `a message of ${gids} sagas`
    return { name: 'worker', what, ...(coldMs === undefined ? {} : { coldMs }), ...warm }
  }

  async #delayed(count: number): Promise<readonly string[]> {
    const gids: string[] = []
    for (let index = 0; index < count; index++) {
      const event = submission(this.#fixture, {}, { delayMs: DELAY_MS })
      await this.#invoke(this.#fixture.functions.api, event)
      gids.push(event.gid)
    }
    return gids
  }

  async #cold(target: LambdaFunction, event: () => object): Promise<number> {
    const from = this.#reports.length
    for (let start = 0; start < COLD_STARTS; start++) {
      await this.#invoke(target, event())
      await target.recycle()
    }
    return findMedian(this.#reports.slice(from).map(({ initMs = 0 }) => initMs))
  }

  async #warm(
    target: LambdaFunction,
    events: readonly object[],
  ): Promise<Pick<FunctionFigures, 'warmMs' | 'roundTrips' | 'rssMb'>> {
    const [from, before] = [this.#reports.length, this.#fixture.sent()]
    for (const event of events) await this.#invoke(target, event)
    const reports = this.#reports.slice(from)
    return {
      warmMs: findMedian(reports.map(({ durationMs }) => durationMs)),
      roundTrips: (this.#fixture.sent() - before) / events.length,
      rssMb: Math.round(Math.max(...reports.map(({ rssBytesMax }) => rssBytesMax)) / 1_000_000),
    }
  }

  async #invoke(target: LambdaFunction, event: object): Promise<void> {
    const outcome = await target.invoke(event)
    if (outcome.type !== 'answered') throw new Error(`${target.name}: ${JSON.stringify(outcome)}`)
    const { statusCode = 200, batchItemFailures = [] } = JSON.parse(outcome.payload) ?? {}
    if (statusCode >= 300 || batchItemFailures.length > 0)
      throw new Error(`${target.name}: ${outcome.payload}`)
  }
}

let drawn = 0

function submission(
  { branchUrl }: FunctionFixture,
  headers: object,
  more: object = {},
): { readonly gid: string } {
  drawn += 1
  const gid = `bench-${process.pid}-${drawn}`
  const branch = { action: `${branchUrl}/in`, compensation: `${branchUrl}/out`, payload: { amount: 1 } }
  const event = {
    version: '2.0',
    rawPath: '/v1/transactions',
    rawQueryString: '',
    headers: { host: 'bench.test', 'content-type': 'application/json', ...headers },
    requestContext: { http: { method: 'POST', path: '/v1/transactions' } },
    body: JSON.stringify({ gid, branches: [branch, branch, branch], ...more }),
    isBase64Encoded: false,
  }
  return { ...event, gid }
}

function toMessage(gids: readonly string[]): object {
  return { Records: [{ messageId: 'm1', body: JSON.stringify({ gids }) }] }
}

function findMedian(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
