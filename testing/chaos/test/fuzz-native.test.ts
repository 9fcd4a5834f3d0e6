import { Agent } from 'node:http'
import type { TransactionPage } from '@counterstep/protocol'
import { withSecrets } from '@counterstep/test-servers/with-secrets'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FuzzedServer, type ServerFigures } from '../src/fuzz/fuzzed-server.ts'
import { faultsOfAnswer, type Nature } from '../src/fuzz/judge-answer.ts'
import { ServerDocument } from '../src/fuzz/open-api.ts'
import { sendRequest, type WireAnswer, type WireRequest } from '../src/fuzz/wire-request.ts'
import { type AnsweringBranch, answeringBranch } from './fuzz/branch-that-answers.ts'
import { fuzzRuns, fuzzSeed } from './fuzz/fuzz-seed.ts'
import { FuzzTally } from './fuzz/fuzz-tally.ts'
import { nearValid, rubbish, written } from './fuzz/near-valid-request.ts'
import { type Draft, validRequest } from './fuzz/valid-request.ts'

const REQUESTS = 1_500
const GROWTH_BYTES_MAX = 150 * 2 ** 20
/** Of 99 in 100; some ask for a wait of a second. */
const TYPICAL_MS_MAX = 2_000
/** Two cores are shared with other suites. */
const ANSWER_MS_MAX = 20_000
const SUBMIT = '/v1/transactions'
const HOUR_MS = 3_600_000

interface Sent {
  readonly nature: Nature
  readonly request: WireRequest
}

describe('requests made from the OpenAPI document', () => {
  const seed = fuzzSeed()
  const runs = fuzzRuns(REQUESTS)
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const tally = new FuzzTally()
  const acceptedGids = new Set<string>()
  const refusedGids = new Set<string>()
  let branch: AnsweringBranch
  let server: FuzzedServer
  let document: ServerDocument
  let before: ServerFigures

  beforeAll(async () => {
    branch = await answeringBranch()
    server = await FuzzedServer.start()
    document = await ServerDocument.of(server.url)
    for (const body of standing(branch.url)) {
      const answer = await submit(body)
      expect(answer.status).toBeLessThan(300)
    }
  })

  afterAll(async () => {
    agent.destroy()
    await server.stop()
    await branch[Symbol.asyncDispose]()
  })

  async function submit(json: object): Promise<WireAnswer> {
    const draft: Draft = { method: 'POST', segments: SUBMIT.split('/'), query: [], headers: [], json }
    return send({ nature: 'valid', request: written(draft) })
  }

  async function send({ nature, request }: Sent): Promise<WireAnswer> {
    const answer = await sendRequest(server.url, agent, request)
    tally.add(answer)
    server.watch.hear('answers', answer.body.toString('latin1'))
    if (request.method === 'POST' && request.target.split('?', 1)[0] === SUBMIT) note(request, answer)
    expect(faultsOfAnswer(document, nature, request, answer)).toEqual([])
    expect(answer.tookMs).toBeLessThan(ANSWER_MS_MAX)
    return answer
  }

  function note({ body }: WireRequest, { status, body: answered }: WireAnswer): void {
    if (status < 300) acceptedGids.add(JSON.parse(answered.toString()).gid)
    else if (status < 500) {
      // Wherever the text still says a gid, readable or not.
      const said = /"gid":"((?:[^"\\]|\\.){1,128})"/.exec(body)?.[1]
      if (said !== undefined) refusedGids.add(said)
    }
  }

  it(`${runs} of them, valid, near-valid and rubbish, are answered as documented (seed ${seed})`, async () => {
    process.stdout.write(`fuzz of the native face: FUZZ_SEED=${seed} FUZZ_RUNS=${runs}\n`)
    const gids = standing(branch.url).map(({ gid }) => gid)
    const valid = validRequest(document, { branchUrl: branch.url, gids })
    const sent: fc.Arbitrary<Sent> = fc.oneof(
      { weight: 3, arbitrary: valid.map((draft) => ({ nature: 'valid' as const, request: written(draft) })) },
      {
        weight: 6,
        arbitrary: nearValid(valid).map((request) => ({ nature: 'near-valid' as const, request })),
      },
      { weight: 1, arbitrary: rubbish.map((request) => ({ nature: 'rubbish' as const, request })) },
    )
    let count = 0
    await fc.assert(
      fc.asyncProperty(sent, async (each) => {
        if (count++ === Math.floor(runs / 3)) before = await server.figures()
        await send(each)
      }),
      { seed, numRuns: runs },
    )
    process.stdout.write(`${tally}\n`)
  }, 120_000)

  it('met every kind of answer, or the requests were too tame', () => {
    for (const status of [200, 202, 400, 404, 405, 409, 413, 415, 422]) {
      expect([status, tally.statuses.get(status) ?? 0]).not.toEqual([status, 0])
    }
    expect(acceptedGids.size).toBeGreaterThan(runs / 50)
    expect(refusedGids.size).toBeGreaterThan(runs / 50)
  })

  it('stored what was accepted, and nothing that was refused', async () => {
    const stored = new Set<string>()
    let cursor: string | undefined
    do {
      const more: string = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const answer = await fetch(`${server.url}${SUBMIT}?limit=200${more}`)
      const page = (await answer.json()) as TransactionPage
      for (const { gid } of page.items) stored.add(gid)
      cursor = page.cursor
    } while (cursor !== undefined)
    expect([...acceptedGids].filter((gid) => !stored.has(gid))).toEqual([])
    // One that was accepted before, and refused when it came again with other content, is there.
    const wrong = [...refusedGids].filter((gid) => stored.has(gid) && !acceptedGids.has(gid))
    expect(wrong).toEqual([])
  })

  it('cost no memory and no time', async () => {
    const after = await server.figures()
    expect(after.residentBytes - before.residentBytes).toBeLessThan(GROWTH_BYTES_MAX)
    expect(tally.tookMs(0.99)).toBeLessThan(TYPICAL_MS_MAX)
  })

  it('left the server running, without a line of complaint, and able to stop', async () => {
    expect(server.isRunning).toBe(true)
    expect(server.complaints).toEqual([])
    expect(await server.stop()).toBe(0)
    expect(server.complaints).toEqual([])
  })
})

/** Enough of each that the commands can meet, since some end one. */
function standing(branchUrl: string) {
  const { branches } = withSecrets({
    branches: [{ id: 'a', action: `${branchUrl}/a`, compensation: `${branchUrl}/b` }],
  })
  const check = { url: `${branchUrl}/c`, afterMs: HOUR_MS }
  return Array.from({ length: 20 }, (_, index) => [
    { gid: `done-${index}`, branches },
    { gid: `later/${index}`, branches, delayMs: HOUR_MS },
    { gid: `tcc-${index}`, kind: 'tcc', deadlineMs: HOUR_MS },
    { gid: `message-${index}`, kind: 'message', branches: [{ action: `${branchUrl}/a` }], check },
  ]).flat()
}
