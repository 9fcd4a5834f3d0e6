import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildBundles } from '@counterstep/lambda-emulator'
import { describeLambda } from '@counterstep/lambda-emulator/vitest'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type FunctionFixture, startFunctionFixture } from './support/function-fixture.ts'
import { HangingService } from './support/hanging-service.ts'

const BUILD_MS_MAX = 120_000
const START_MS_MAX = 60_000
const TEST_MS_MAX = 240_000
/** A call may hang for this long, by the wish of its saga. */
const HANG_MS = 50_000
/** On AWS a worker has 120 s. This is enough for a call of HANG_MS and the last seconds, which are kept for the end. */
const TIMEOUT_MS = 60_000
/**
 * A caller that a service which hangs keeps out is kept out for HANG_MS, or for the 25 s that a caller may wait. This bound only
 * tells that from a machine that is slow.
 */
const KEPT_OUT_MS = 12_000
const WAIT_S = 25
const OTHERS = 8
/** There are as many workers as four, and each takes ten messages. */
const OF_EACH_KIND = 12
/** This is the number of environments of api. */
const CALLERS = 4

interface Submitted {
  readonly status: number
  readonly gid: string
}

describeLambda('S40: a service that hangs', (client) => {
  describeOn('elasticmq', 'with two queues', (queueServerUrl) => {
    describeOn('redis', 'on a store', (storeServerUrl) => {
      let folder = ''
      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'counterstep-hanging-'))
        await buildBundles(folder)
      }, BUILD_MS_MAX)
      afterAll(() => rm(folder, { recursive: true, force: true }))

      const open = (targets: readonly string[]) =>
        startFunctionFixture({
          ...{ client, queueServerUrl, storeServerUrl, folder, targets, timeoutMs: TIMEOUT_MS },
        })
      describe('callers that wait', () => testFixture(open, keepsApiFree))
      describe('delayed sagas', () => testFixture(open, keepsWorkersFree))
    })
  })
})

interface World {
  readonly fixture: FunctionFixture
  readonly hanging: HangingService
  readonly submit: (transaction: object, waitS?: number) => Promise<Submitted>
}

function testFixture(
  open: (targets: readonly string[]) => Promise<FunctionFixture>,
  test: { readonly title: string; readonly run: (world: World) => Promise<void> },
): void {
  const hanging = new HangingService()
  let fixture: FunctionFixture

  beforeAll(async () => {
    await hanging.start()
    fixture = await open([hanging.url])
  }, START_MS_MAX)

  afterAll(async () => {
    await fixture.close()
    await hanging.stop()
  }, START_MS_MAX)

  it(
    test.title,
    () => test.run({ fixture, hanging, submit: (...given) => submit(fixture, ...given) }),
    TEST_MS_MAX,
  )
}

async function submit(
  { url, secrets }: FunctionFixture,
  transaction: object,
  waitS?: number,
): Promise<Submitted> {
  const gid = randomUUID()
  const response = await fetch(`${url}/v1/transactions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secrets.apiKey}`,
      'content-type': 'application/json',
      ...(waitS === undefined ? {} : { prefer: `wait=${waitS}` }),
    },
    body: JSON.stringify({ gid, ...transaction }),
  })
  await response.arrayBuffer()
  return { status: response.status, gid }
}

function buildHealthy({ fixture }: World, more: object = {}): object {
  const url = `${fixture.branch.url}/account`
  return { branches: [{ id: '01', action: url, compensation: `${url}/undo` }], ...more }
}

/** Builds each kind of transaction that waits for a service which hangs. */
function buildHanging({ fixture, hanging }: World, more: object = {}): Readonly<Record<string, object>> {
  const [well, hangs] = [`${fixture.branch.url}/account`, hanging.url]
  const common = { timeoutMs: HANG_MS, ...more }
  return {
    action: { branches: [{ id: '01', action: hangs, compensation: well }], ...common },
    dribble: { branches: [{ id: '01', action: `${hangs}/dribble`, compensation: well }], ...common },
    compensation: {
      branches: [
        { id: '01', action: well, compensation: hangs },
        { id: 'refused', action: well, compensation: well },
      ],
      ...common,
    },
    check: {
      kind: 'message',
      branches: [{ id: '01', action: well }],
      check: { url: hangs, afterMs: 1_000 },
      timeoutMs: HANG_MS,
    },
  }
}

function refuseSome({ fixture }: World): void {
  fixture.branch.rule = ({ branchId, op }) => ({
    status: branchId === 'refused' && op === 'action' ? 409 : 200,
  })
}

/** Tells whether all have ended. It reads one after the other, since more readers than environments would be refused. */
async function haveEnded({ fixture }: World, gids: readonly string[]): Promise<boolean> {
  for (const gid of gids) {
    const { status = 'unknown' } = (await fixture.client.get(gid)) ?? {}
    if (status !== 'succeeded' && status !== 'failed') return false
  }
  return true
}

const keepsApiFree = {
  title:
    'As many callers as there are environments, which wait for it again and again, keep no other caller out',
  async run(world: World): Promise<void> {
    refuseSome(world)
    let isOver = false
    let [attacks, answered] = [0, 0]
    const waiting = { signal: 'approval', timeoutMs: HANG_MS }
    const [branch] = (buildHealthy(world) as { branches: readonly object[] }).branches
    const kinds = [
      ...Object.values(buildHanging(world)),
      buildHealthy(world, { delayMs: HANG_MS }),
      { branches: [branch, { id: 'approved', wait: waiting }] },
    ]
    const attackers = Array.from({ length: CALLERS }, async () => {
      while (!isOver) {
        const { status } = await world.submit(kinds[attacks++ % kinds.length] ?? {}, WAIT_S)
        if (status !== 429) answered++
      }
    })
    await vi.waitUntil(() => world.hanging.held > 0, { timeout: HANG_MS })
    const tookMs: number[] = []
    const gids: string[] = []
    for (let n = 0; n < OTHERS; n++) {
      const startedAt = performance.now()
      const accepted = await vi.waitUntil(
        async () => {
          const submitted = await world.submit(buildHealthy(world))
          return submitted.status === 202 || submitted.status === 200 ? submitted.gid : false
        },
        { timeout: TEST_MS_MAX / 2, interval: 50 },
      )
      gids.push(accepted)
      tookMs.push(Math.round(performance.now() - startedAt))
    }
    isOver = true
    process.stdout.write(
      `${answered} answers to ${attacks} callers that wait; others were accepted after ${tookMs.join(', ')} ms\n`,
    )
    world.hanging.heal()
    await Promise.all(attackers)
    expect(Math.max(...tookMs)).toBeLessThan(KEPT_OUT_MS)
    await vi.waitUntil(() => haveEnded(world, gids), { timeout: HANG_MS })
  },
}

const keepsWorkersFree = {
  title:
    'More delayed transactions than workers take, which hang in every way, keep no other transaction waiting',
  async run(world: World): Promise<void> {
    refuseSome(world)
    const kinds = Object.values(buildHanging(world, { delayMs: 1_000 }))
    const accept = async (transaction: object) =>
      await vi.waitUntil(
        async () => {
          const submitted = await world.submit(transaction)
          return submitted.status < 300 ? submitted.gid : false
        },
        { timeout: HANG_MS, interval: 50 },
      )
    const hung: string[] = []
    for (let n = 0; n < OF_EACH_KIND; n++)
      hung.push(...(await Promise.all(kinds.map((transaction) => accept(transaction)))))
    await vi.waitUntil(() => world.hanging.held > 0, { timeout: HANG_MS })
    const startedAt = performance.now()
    const others = await Promise.all(
      Array.from({ length: OTHERS }, () => accept(buildHealthy(world, { delayMs: 1_000 }))),
    )
    await vi.waitUntil(() => haveEnded(world, others), { timeout: TEST_MS_MAX / 2, interval: 200 })
    const tookMs = Math.round(performance.now() - startedAt)
    process.stdout.write(`${OTHERS} sagas beside ${hung.length} that hang ended after ${tookMs} ms\n`)
    expect(tookMs).toBeLessThan(KEPT_OUT_MS)
    // The calls hang still, or again, and hold the workers of the slow queue.
    await vi.waitUntil(() => world.hanging.held > 0, { timeout: HANG_MS })
    // Nothing of what has hung is lost.
    world.fixture.startSweeper()
    world.hanging.heal()
    await vi.waitUntil(() => haveEnded(world, hung), { timeout: TEST_MS_MAX / 2, interval: 500 })
  },
}
