import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PurgeQueueCommand } from '@aws-sdk/client-sqs'
import { buildBundles, countMessages } from '@counterstep/lambda-emulator'
import { describeLambda } from '@counterstep/lambda-emulator/vitest'
import { describeOn } from '@counterstep/test-servers/vitest'
import { withSecrets } from '@counterstep/test-servers/with-secrets'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type FunctionFixture, startFunctionFixture } from './support/function-fixture.ts'
import { toArn } from './support/secrets-manager.ts'
import { countStoreRequests } from './support/store-requests.ts'

const BUILD_MS_MAX = 120_000
const START_MS_MAX = 60_000
/** This only tells a function that hangs from a slow one. */
const END = { timeoutMs: 40_000 }
const POLL = { timeout: 40_000 }
const TEST_MS_MAX = 90_000
const RETRY_AFTER_S = 2
const HAPPY_SAGAS = 5
/** This matches a digest, or a line of a key. */
const SECRET_PART = /[\w+/=-]{32,}/g
const EMPTY = { visible: 0, inFlight: 0, delayed: 0 }

describeLambda('the three functions', (client) => {
  describeOn('elasticmq', 'with a queue', (queueServerUrl) => {
    let folder = ''

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'counterstep-functions-'))
      await buildBundles(folder)
    }, BUILD_MS_MAX)

    afterAll(() => rm(folder, { recursive: true, force: true }))

    for (const store of ['mariadb', 'postgres', 'redis'] as const) {
      describeOn(store, 'on a store', (storeServerUrl) => {
        // The store on PostgreSQL waits for an answer for 3 s at least, and a function that is about to end does not wait so long.
        const time = store === 'postgres' ? { timeoutMs: 10_000 } : {}
        testFunctions(() => startFunctionFixture({ client, queueServerUrl, storeServerUrl, folder, ...time }))
      })
    }
  })
})

function testFunctions(open: () => Promise<FunctionFixture>): void {
  let fixture: FunctionFixture

  beforeAll(async () => {
    fixture = await open()
  }, START_MS_MAX)

  afterAll(() => fixture.close(), START_MS_MAX)

  it(
    'The functions take the password, the keys and the signing key from secrets',
    () => takesSecrets(fixture),
    TEST_MS_MAX,
  )
  it(
    'A submit that waits is answered with the end of its saga, after two writes',
    () => answersWaits(fixture),
    TEST_MS_MAX,
  )
  it('A saga that waits is given back, and the worker ends it', () => handsOff(fixture), TEST_MS_MAX)
  it('A wake-up message that failed because of the store comes again', () => failsItems(fixture), TEST_MS_MAX)
  it(
    'A saga whose wake-up message the queue has lost is ended after a sweep',
    () => sweepsLost(fixture),
    TEST_MS_MAX,
  )
  it('The functions have printed none of the secrets', () => printsNoSecret(fixture))
}

function buildSaga({ branch }: FunctionFixture, gid: string = randomUUID()) {
  const url = `${branch.url}/account`
  const branches = ['01', '02'].map((id) => ({
    id,
    action: `${url}/${id}`,
    compensation: `${url}/${id}/undo`,
    payload: { cents: 100 },
  }))
  return { ...withSecrets({ branches }), gid }
}

/** Makes a saga whose first branch asks to be called again, once. */
function waitingSaga(fixture: FunctionFixture) {
  const saga = buildSaga(fixture)
  fixture.branch.rule = ({ gid, branchId, attempt }) =>
    gid === saga.gid && branchId === '01' && attempt === 1
      ? { status: 425, retryAfterS: RETRY_AFTER_S }
      : { status: 200 }
  return saga
}

function listOutcomes({ reports }: FunctionFixture, functionName: string): readonly string[] {
  return reports.filter((report) => report.functionName === functionName).map(({ outcome }) => outcome)
}

async function takesSecrets(fixture: FunctionFixture): Promise<void> {
  expect((await fetch(`${fixture.url}/v1/transactions`)).status).toBe(401)
  const saga = buildSaga(fixture)
  expect(await fixture.client.submit(saga, { waitMs: 10_000 })).toMatchObject({ status: 'succeeded' })
  // The service answers 401 to what is not signed.
  expect(fixture.branch.refused).toEqual([])
  expect(new Set(fixture.secretsManager.asked)).toEqual(
    new Set(['password', 'keys', 'signing-key'].map(toArn)),
  )
  expect(listOutcomes(fixture, 'worker')).toEqual([])
}

async function answersWaits(fixture: FunctionFixture): Promise<void> {
  const sagas = Array.from({ length: HAPPY_SAGAS }, () => buildSaga(fixture))
  const { roundTrips, writes } = await countStoreRequests(fixture.proxy, async () => {
    for (const saga of sagas) {
      expect(await fixture.client.submit(saga, { waitMs: 10_000 })).toMatchObject({ status: 'succeeded' })
      expect(fixture.branch.calls(saga.gid).map(({ branchId }) => branchId)).toEqual(['01', '02'])
    }
  })
  process.stdout.write(
    `${HAPPY_SAGAS} sagas by functions: ${roundTrips} round trips to the store, ${writes} writes\n`,
  )
  expect({ roundTrips, writes }).toEqual({ roundTrips: 2 * HAPPY_SAGAS, writes: 2 * HAPPY_SAGAS })
  // The api did all of it.
  expect([listOutcomes(fixture, 'worker'), fixture.source.counts().received]).toEqual([[], 0])
}

async function handsOff(fixture: FunctionFixture): Promise<void> {
  const saga = waitingSaga(fixture)
  const before = fixture.batches.length
  expect(await fixture.client.submit(saga)).toMatchObject({ status: 'submitted', epoch: 1 })
  expect(await fixture.client.wait(saga.gid, END)).toMatchObject({ status: 'succeeded', epoch: 2 })
  const calls = fixture.branch.calls(saga.gid)
  expect(calls.map(({ branchId, attempt }) => `${branchId} ${attempt}`)).toEqual(['01 1', '01 2', '02 1'])
  const [first, second] = calls
  expect((second?.arrivedAt ?? 0) - (first?.arrivedAt ?? 0)).toBeGreaterThanOrEqual(RETRY_AFTER_S * 1_000)
  await vi.waitUntil(() => fixture.batches.length > before, POLL)
  expect(fixture.batches.slice(before)).toMatchObject([{ failedIds: [], outcome: 'answered' }])
}

async function failsItems(fixture: FunctionFixture): Promise<void> {
  const saga = waitingSaga(fixture)
  const before = fixture.batches.length
  expect(await fixture.client.submit(saga)).toMatchObject({ status: 'submitted' })
  fixture.proxy.blackHole()
  await vi.waitUntil(() => fixture.batches.length > before, POLL)
  fixture.proxy.heal()
  const [{ messageIds = [], failedIds = [], outcome } = {}] = fixture.batches.slice(before)
  expect({ count: messageIds.length, failedIds, outcome }).toEqual({
    count: 1,
    failedIds: messageIds,
    outcome: 'answered',
  })
  expect(fixture.branch.calls(saga.gid)).toHaveLength(1)
  // The same message ends the saga when it is visible again.
  expect(await fixture.client.wait(saga.gid, END)).toMatchObject({ status: 'succeeded' })
  await vi.waitUntil(() => fixture.batches.length > before + 1, POLL)
  expect(fixture.batches.slice(before + 1)).toMatchObject([{ messageIds, failedIds: [] }])
}

async function sweepsLost(fixture: FunctionFixture): Promise<void> {
  const saga = waitingSaga(fixture)
  expect(await fixture.client.submit(saga)).toMatchObject({ status: 'submitted' })
  expect(await countMessages(fixture.queue)).toEqual({ ...EMPTY, delayed: 1 })
  await fixture.queue.client.send(new PurgeQueueCommand({ QueueUrl: fixture.queue.url }))
  expect(await countMessages(fixture.queue)).toEqual(EMPTY)
  const schedule = fixture.startSweeper()
  expect(await fixture.client.wait(saga.gid, END)).toMatchObject({ status: 'succeeded', epoch: 2 })
  const [first, second] = fixture.branch.calls(saga.gid)
  expect((second?.arrivedAt ?? 0) - (first?.arrivedAt ?? 0)).toBeGreaterThanOrEqual(RETRY_AFTER_S * 1_000)
  await schedule.stop()
  expect(
    readGauges(fixture)
      .map(({ Swept }) => Swept)
      .filter((swept) => swept !== 0),
  ).toEqual([1])
  expect(new Set(listOutcomes(fixture, 'sweeper'))).toEqual(new Set(['answered']))
}

interface Gauges {
  readonly Swept: number
}

function readGauges({ lines }: FunctionFixture): readonly Gauges[] {
  return lines.filter(({ text }) => text.startsWith('{"_aws"')).map(({ text }) => JSON.parse(text))
}

function printsNoSecret({ watch, lines, secrets }: FunctionFixture): void {
  expect(new Set(lines.map(({ functionName }) => functionName))).toEqual(
    new Set(['api', 'worker', 'sweeper']),
  )
  expect(watch.shown).toEqual([])
  const { keys, 'signing-key': signingKey } = secrets.byName
  const parts = [secrets.apiKey, ...[keys, signingKey].flatMap((text) => text.match(SECRET_PART) ?? [])]
  expect(parts.length).toBeGreaterThanOrEqual(3)
  expect(lines.filter(({ text }) => parts.some((part) => text.includes(part)))).toEqual([])
}
