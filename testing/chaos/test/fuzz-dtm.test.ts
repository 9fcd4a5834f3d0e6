import { Agent } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FuzzedServer } from '../src/fuzz/fuzzed-server.ts'
import { faultsOfDtmAnswer, type Nature } from '../src/fuzz/judge-dtm-answer.ts'
import { sendRequest, type WireAnswer, type WireRequest } from '../src/fuzz/wire-request.ts'
import { type AnsweringBranch, answeringBranch } from './fuzz/branch-that-answers.ts'
import { fuzzRuns, fuzzSeed } from './fuzz/fuzz-seed.ts'
import { FuzzTally } from './fuzz/fuzz-tally.ts'
import { nearValid, rubbish, written } from './fuzz/near-valid-request.ts'
import { dtmRequestOfState, validDtmRequest } from './fuzz/valid-dtm-request.ts'

const REQUESTS = 1_000
const GIDS = Array.from({ length: 20 }, (_, index) => `standing-${index}`)
const TYPICAL_MS_MAX = 2_000

interface Sent {
  readonly nature: Nature
  readonly request: WireRequest
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
    server = await FuzzedServer.start()
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
    // The answers of these two routes show payloads, as DTM's do.
    if (!/\/(?:query|all)\b/.test(request.target)) {
      server.watch.hear('answers', answer.body.toString('latin1'))
    }
    note(request, answer)
    expect(faultsOfDtmAnswer(nature, request, answer)).toEqual([])
    return answer
  }

  function note({ method, target, body }: WireRequest, { status }: WireAnswer): void {
    if (method !== 'POST' || !/^\/api\/dtmsvr\/(?:submit|prepare)$/.test(target)) return
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
