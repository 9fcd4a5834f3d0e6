import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FuzzedServer } from '../src/fuzz/fuzzed-server.ts'
import { faultsOfDtmAnswer, type Nature } from '../src/fuzz/judge-dtm-answer.ts'
import { sendRequest, type WireAnswer, type WireRequest } from '../src/fuzz/wire-request.ts'
import { nearValid, rubbish, written } from './fuzz/near-valid-request.ts'
import { dtmRequestOfState, validDtmRequest } from './fuzz/valid-dtm-request.ts'

const REQUESTS = 1_000
const GIDS = Array.from({ length: 20 }, (_, index) => `standing-${index}`)
const TYPICAL_MS_MAX = 2_000

interface AnsweringBranch extends AsyncDisposable {
  readonly url: string
}

interface Sent {
  readonly nature: Nature
  readonly request: WireRequest
}

/** A branch that answers 200 to every request. */
async function answeringBranch(): Promise<AnsweringBranch> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A run of the same seed and number sends the same requests: `FUZZ_SEED=… FUZZ_RUNS=… vitest run testing/chaos/test/fuzz`. */
function fuzzSeed(): number {
  const given = process.env.FUZZ_SEED
  return given === undefined ? Date.now() % 2 ** 31 : Number(given)
}

/** How many requests, if no number is given. */
function fuzzRuns(requests: number): number {
  const given = process.env.FUZZ_RUNS
  return given === undefined ? requests : Number(given)
}

/** Counts what a run met: without refusals and successes of every kind it would have shown nothing. */
class FuzzTally {
  readonly statuses = new Map<number, number>()
  readonly #tookMs: number[] = []

  add({ status, tookMs }: WireAnswer): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    this.#tookMs.push(tookMs)
  }

  get requests(): number {
    return this.#tookMs.length
  }

  /** The time that such a share of the answers took at most. */
  tookMs(share: number): number {
    const sorted = this.#tookMs.toSorted((a, b) => a - b)
    return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0
  }

  toString(): string {
    const statuses = [...this.statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${status}: ${count}`)
    const times = [0.5, 0.99, 1].map((share) => `p${share * 100} ${Math.round(this.tookMs(share))} ms`)
    return `${this.requests} requests; ${statuses.join(', ')}; ${times.join(', ')}`
  }
}

describe('requests to the DTM dialect', () => {
  const seed = fuzzSeed()
  const runs = fuzzRuns(REQUESTS)
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const tally = new FuzzTally()
  const takenGids = new Set<string>()
  const refusedGids = new Set<string>()
  let branch: AnsweringBranch
  let server: FuzzedServer

  beforeAll(async () => {
    branch = await answeringBranch()
    server = await FuzzedServer.start('--accept-new-kinds')
    for (const gid of GIDS) {
      const json = { gid, trans_type: 'tcc', timeout_to_fail: 3_600 }
      const segments = ['', 'api', 'dtmsvr', 'prepare']
      const request = written({ method: 'POST', segments, query: [], headers: [], json })
      expect((await send({ nature: 'valid', request })).status).toBe(200)
    }
  })

  afterAll(async () => {
    agent.destroy()
    await server.stop()
    await branch[Symbol.asyncDispose]()
  })

  async function send({ nature, request }: Sent): Promise<WireAnswer> {
    const answer = await sendRequest(server.dtmUrl, agent, request)
    tally.add(answer)
    // Those show payloads, as DTM's do.
    if (!/\/(?:query|all)\b/.test(request.target)) {
      server.watch.hear('answers', answer.body.toString('latin1'))
    }
    note(request, answer)
    expect(faultsOfDtmAnswer(nature, request, answer)).toEqual([])
    return answer
  }

  function note({ method, target, body }: WireRequest, { status }: WireAnswer): void {
    if (method !== 'POST' || !/^\/api\/dtmsvr\/(?:submit|prepare|prepareWorkflow)$/.test(target)) return
    const gids = [...body.matchAll(/"gid":"([!#-&(-:<-[\]-~]{1,128})"/gi)].flatMap(([, gid]) => gid ?? [])
    for (const gid of gids) ([403, 421, 422, 500, 501].includes(status) ? refusedGids : takenGids).add(gid)
  }

  it(`All of ${runs} requests, valid, near-valid and rubbish, are answered in DTM's words (seed ${seed})`, async () => {
    process.stdout.write(`fuzz of DTM's face: FUZZ_SEED=${seed} FUZZ_RUNS=${runs}\n`)
    const around = { branchUrl: branch.url, gids: GIDS }
    const ofState = dtmRequestOfState(around)
    const valid = validDtmRequest(around, true)
    const changeable = fc.oneof({ weight: 4, arbitrary: validDtmRequest(around, false) }, ofState)
    const sent: fc.Arbitrary<Sent> = fc.oneof(
      { weight: 3, arbitrary: valid.map((draft) => ({ nature: 'valid' as const, request: written(draft) })) },
      {
        weight: 1,
        arbitrary: ofState.map((draft) => ({ nature: 'near-valid' as const, request: written(draft) })),
      },
      {
        weight: 5,
        arbitrary: nearValid(changeable).map((request) => ({ nature: 'near-valid' as const, request })),
      },
      { weight: 1, arbitrary: rubbish.map((request) => ({ nature: 'rubbish' as const, request })) },
    )
    const property = fc.asyncProperty(sent, async (each) => void (await send(each)))
    await fc.assert(property, { seed, numRuns: runs })
    process.stdout.write(`${tally}\n`)
  }, 120_000)

  it('The requests to the DTM dialect met every kind of answer, or they were too tame', () => {
    for (const status of [200, 400, 404, 409, 422, 500, 501]) {
      expect([status, tally.statuses.get(status) ?? 0]).not.toEqual([status, 0])
    }
    expect(takenGids.size).toBeGreaterThan(runs / 20)
    expect(refusedGids.size).toBeGreaterThan(runs / 50)
  })

  it('A request to the DTM dialect that was refused has stored nothing', async () => {
    for (const gid of refusedGids) {
      if (takenGids.has(gid)) continue
      const answer = await fetch(`${server.dtmUrl}/api/dtmsvr/query?gid=${encodeURIComponent(gid)}`)
      expect(await answer.json()).toEqual({ branches: [], transaction: null })
    }
  })

  it('The requests to the DTM dialect left the server running and quick, without a line of complaint, and able to stop', async () => {
    expect(tally.tookMs(0.99)).toBeLessThan(TYPICAL_MS_MAX)
    expect(server.isRunning).toBe(true)
    expect(server.complaints).toEqual([])
    expect(await server.stop()).toBe(0)
    expect(server.complaints).toEqual([])
  })
})
