import { randomUUID } from 'node:crypto'
import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { startElasticmq } from '@counterstep/test-servers'
import { describeOn, describeOwn } from '@counterstep/test-servers/vitest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type BatchDelivery,
  countMessages,
  createQueue,
  type FunctionSpec,
  type Queue,
  type QueueOptions,
  type RuntimeClient,
  type SqsEventSourceOptions,
  startSqsEventSource,
} from '../../src/index.ts'
import { describeLambda } from '../../src/vitest/describe-lambda.ts'
import { openFunction } from '../open-function.ts'

const WAIT_MS_MAX = 25_000
/** The queue server of a test starts twice. */
const OWN_SERVER_MS_MAX = 120_000
const EMPTY = { visible: 0, inFlight: 0, delayed: 0 }

interface Told {
  readonly at: number
  readonly type: 'started' | 'ended'
  readonly name: string
  readonly receives: number
  readonly records: number
}

interface Setup {
  readonly endpoint: string
  readonly client: RuntimeClient
}

async function openQueue({ endpoint }: Setup, more: Partial<QueueOptions> = {}): Promise<Queue> {
  const queue = await createQueue({ endpoint, name: randomUUID(), visibilityTimeoutMs: 2000, ...more })
  onTestFinished(() => queue.client.destroy())
  return queue
}

async function openSource(
  { client }: Setup,
  queue: Queue,
  more: Partial<SqsEventSourceOptions> = {},
  spec: Partial<FunctionSpec> = {},
) {
  const { concurrencyMax = 4 } = more
  const target = await openFunction(client, 'worker.handler', {
    reservedConcurrency: concurrencyMax,
    ...spec,
  })
  const batches: BatchDelivery[] = []
  const errors: unknown[] = []
  const source = startSqsEventSource({
    queue,
    target,
    batchSizeMax: 10,
    batchingWindowMs: 0,
    concurrencyMax,
    onBatch: (batch) => batches.push(batch),
    onError: (error) => errors.push(error),
    ...more,
  })
  onTestFinished(async () => {
    // If a test leaves an invocation running, it ends with its environment.
    const stopped = source.stop()
    await target.stop()
    await stopped
  })
  const told = () =>
    target.lines.flatMap(({ text }): Told[] => (text.startsWith('{') ? [JSON.parse(text)] : []))
  return { ...source, target, batches, errors, told }
}

async function send({ client, url }: Queue, messages: readonly object[]): Promise<void> {
  const Entries = messages.map((message, index) => ({
    Id: String(index),
    MessageBody: JSON.stringify(message),
  }))
  await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }))
}

async function untilEmpty(queue: Queue): Promise<void> {
  await vi.waitFor(async () => expect(await countMessages(queue)).toEqual(EMPTY), WAIT_MS_MAX)
}

describeOn('elasticmq', 'a queue before a function', (endpoint) => {
  describeLambda('as an event source', (client) => defineTests({ endpoint, client }))
})

function defineTests(setup: Setup): void {
  it('Messages are handed over in the form of AWS, and those that succeeded are deleted', async () => {
    const queue = await openQueue(setup)
    const source = await openSource(setup, queue, {}, { handler: 'worker.tellEvent' })
    const attributes = { kind: { DataType: 'String', StringValue: 'hint' } }
    const message = { QueueUrl: queue.url, MessageBody: '{"gids":["a"]}', MessageAttributes: attributes }
    await queue.client.send(new SendMessageCommand(message))
    await vi.waitFor(() => expect(source.told()).toHaveLength(1), WAIT_MS_MAX)
    await untilEmpty(queue)
    expect(source.told()[0]).toMatchObject({
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      receiptHandle: expect.any(String),
      body: '{"gids":["a"]}',
      attributes: { ApproximateReceiveCount: '1', SentTimestamp: expect.stringMatching(/^\d{13}$/) },
      messageAttributes: {
        kind: { stringValue: 'hint', dataType: 'String', stringListValues: [], binaryListValues: [] },
      },
      md5OfBody: '3c042af3c2a48c7ff14feb1714fb7b7c',
      eventSource: 'aws:sqs',
      eventSourceARN: queue.arn,
      awsRegion: 'eu-central-1',
    })
    const counts = { received: 1, delivered: 1, deleted: 1, batches: 1 }
    await vi.waitFor(() => expect(source.counts()).toMatchObject(counts), WAIT_MS_MAX)
  })

  it('A batch of messages is filled within its window', async () => {
    const queue = await openQueue(setup, { visibilityTimeoutMs: 30_000 })
    const source = await openSource(setup, queue, { batchSizeMax: 12, batchingWindowMs: 10_000 })
    const messages = Array.from({ length: 6 }, (_, index) => ({ name: `m${index}` }))
    await send(queue, messages)
    await send(queue, messages)
    await vi.waitFor(() => expect(source.batches.length).toBeGreaterThan(0), WAIT_MS_MAX)
    expect(source.batches.map(({ messageIds }) => messageIds.length)).toEqual([12])
  })

  it('Only the messages that the function names come back', async () => {
    const queue = await openQueue(setup)
    const source = await openSource(setup, queue, { batchingWindowMs: 500 })
    await send(queue, [{ name: 'good' }, { name: 'bad', failTimes: 1 }])
    await untilEmpty(queue)
    await vi.waitFor(() => expect(source.counts().deleted).toBe(2), WAIT_MS_MAX)
    // The function's output comes on another path than its answer, so it may come later.
    await vi.waitFor(() => expect(source.told()).toHaveLength(6), WAIT_MS_MAX)
    const starts = source.told().filter(({ type }) => type === 'started')
    expect(starts.map(({ name, receives }) => `${name} ${receives}`).toSorted()).toEqual([
      'bad 1',
      'bad 2',
      'good 1',
    ])
  })

  for (const batch of ['throw', 'misshapen']) {
    it(`The whole batch comes back after ${batch === 'throw' ? 'an error' : 'an answer of another shape'}`, async () => {
      const queue = await openQueue(setup)
      const source = await openSource(setup, queue, { batchingWindowMs: 500 })
      await send(queue, [{ name: 'good' }, { name: 'bad', batch, failTimes: 1 }])
      await untilEmpty(queue)
      await vi.waitFor(() => expect(source.counts().deleted).toBe(2), WAIT_MS_MAX)
      expect(source.counts()).toMatchObject({ received: 4, batchesFailed: 1 })
      expect(source.batches[0]?.failedIds).toHaveLength(2)
    })
  }

  it('The whole batch comes back when the function is killed at its deadline', async () => {
    const queue = await openQueue(setup, { visibilityTimeoutMs: 3000 })
    const source = await openSource(setup, queue, {}, { timeoutMs: 1000 })
    await send(queue, [{ name: 'slow', waitMs: 600_000 }])
    await vi.waitFor(() => expect(source.batches.length).toBeGreaterThanOrEqual(2), WAIT_MS_MAX)
    expect(source.batches[0]?.outcome).toBe('timed-out')
    expect(source.counts()).toMatchObject({ deleted: 0 })
  })

  it('No more batches are taken at a time than allowed, and they wait while the function is throttled', async () => {
    const queue = await openQueue(setup, { visibilityTimeoutMs: 30_000 })
    const limits = { batchSizeMax: 1, concurrencyMax: 2 }
    const source = await openSource(setup, queue, limits, { reservedConcurrency: 1 })
    await send(
      queue,
      [1, 2, 3, 4].map((index) => ({ name: `m${index}`, waitMs: 150 })),
    )
    await untilEmpty(queue)
    await vi.waitFor(() => expect(source.told()).toHaveLength(8), WAIT_MS_MAX)
    await vi.waitFor(() => expect(source.counts().deleted).toBe(4), WAIT_MS_MAX)
    expect(source.counts()).toMatchObject({ received: 4, batchesFailed: 0 })
    expect(source.counts().throttles).toBeGreaterThan(0)
    expect(countAtOnceMax(source.told())).toBe(1)
  })

  it('A batch is given back when the function is throttled until its messages are visible again', async () => {
    const queue = await openQueue(setup, { visibilityTimeoutMs: 1000 })
    const source = await openSource(setup, queue, { concurrencyMax: 1 })
    const busy = source.target.invoke({ Records: [recordBusy()] })
    await send(queue, [{ name: 'waiting' }])
    await vi.waitFor(() => expect(source.batches.length).toBeGreaterThanOrEqual(2), WAIT_MS_MAX)
    expect(source.batches[0]).toMatchObject({ outcome: 'throttled', failedIds: [expect.any(String)] })
    expect(source.counts()).toMatchObject({ deleted: 0 })
    await source.target.stop()
    expect(await busy).toMatchObject({ type: 'failed' })
  })

  it('A message that failed too often goes to the dead letters', async () => {
    const dead = await openQueue(setup)
    const queue = await openQueue(setup, {
      visibilityTimeoutMs: 1000,
      deadLetters: { queue: dead, receivesMax: 2 },
    })
    const source = await openSource(setup, queue)
    await send(queue, [{ name: 'poison', failTimes: 1000 }])
    await vi.waitFor(async () => expect((await countMessages(dead)).visible).toBe(1), WAIT_MS_MAX)
    expect(source.counts()).toMatchObject({ received: 2, deleted: 0 })
    expect(await countMessages(queue)).toEqual(EMPTY)
  })

  defineFaultTests(setup)
}

function recordBusy() {
  const body = JSON.stringify({ name: 'busy', waitMs: 600_000 })
  return { messageId: 'busy', body, attributes: { ApproximateReceiveCount: '1' } }
}

describeOwn('elasticmq', 'a queue that goes away', () => {
  describeLambda('before a function', (client) => {
    it('A queue that goes away is told as an error, and polled again when it is back', {
      timeout: OWN_SERVER_MS_MAX,
    }, async () => {
      const server = await startElasticmq()
      onTestFinished(() => server.stop())
      const setup = { endpoint: server.url, client }
      const name = randomUUID()
      const source = await openSource(setup, await openQueue(setup, { name }))
      await server.kill()
      await vi.waitFor(() => expect(source.errors.length).toBeGreaterThan(0), WAIT_MS_MAX)
      await server.restart()
      await send(await openQueue(setup, { name }), [{ name: 'after' }])
      await vi.waitFor(() => expect(source.counts().deleted).toBe(1), WAIT_MS_MAX)
    })
  })
})

function defineFaultTests(setup: Setup): void {
  describe('with faults', () => {
    const none = { seed: 1, lostShare: 0, doubledShare: 0, delayedShare: 0, delayMsMax: 0 }

    it('A doubled message is delivered twice at once, and deleted', async () => {
      const queue = await openQueue(setup, { visibilityTimeoutMs: 30_000 })
      const source = await openSource(setup, queue, { faults: { ...none, doubledShare: 1 } })
      // Both environments are warm, so that a slow start does not delay one of the deliveries.
      await Promise.all([1, 2].map(() => source.target.invoke({ Records: [] })))
      await send(queue, [{ name: 'twice', waitMs: 2000 }])
      await vi.waitFor(() => expect(source.told()).toHaveLength(4), WAIT_MS_MAX)
      await untilEmpty(queue)
      expect(countAtOnceMax(source.told())).toBe(2)
      const counts = { received: 1, doubled: 1, delivered: 2 }
      await vi.waitFor(() => expect(source.counts()).toMatchObject(counts), WAIT_MS_MAX)
      expect(source.errors).toEqual([])
    })

    it('A lost message is deleted and never delivered', async () => {
      const queue = await openQueue(setup, { visibilityTimeoutMs: 1000 })
      const source = await openSource(setup, queue, { faults: { ...none, lostShare: 1 } })
      await send(queue, [{ name: 'never' }])
      await vi.waitFor(() => expect(source.counts().lost).toBe(1), WAIT_MS_MAX)
      await untilEmpty(queue)
      expect(source.counts()).toMatchObject({ received: 1, delivered: 0 })
      expect(source.told()).toEqual([])
    })

    it('A delayed message is delivered once', async () => {
      const queue = await openQueue(setup, { visibilityTimeoutMs: 30_000 })
      const faults = { ...none, delayedShare: 1, delayMsMax: 1500 }
      const source = await openSource(setup, queue, { faults })
      await send(queue, [{ name: 'late' }])
      await untilEmpty(queue)
      expect(source.counts()).toMatchObject({ delayed: 1, delivered: 1, received: 1 })
    })
  })
}

/** Counts how many messages were handled at the same time. */
function countAtOnceMax(told: readonly Told[]): number {
  let running = 0
  let most = 0
  for (const { type } of told.toSorted((a, b) => a.at - b.at)) {
    running += type === 'started' ? 1 : -1
    most = Math.max(most, running)
  }
  return most
}
