import { setTimeout as pause } from 'node:timers/promises'
import { DeleteMessageBatchCommand, type Message } from '@aws-sdk/client-sqs'
import type { InvocationOutcome } from '../invocation.ts'
import type { LambdaFunction } from '../lambda-function.ts'
import { readBatchFailures } from './batch-failures.ts'
import { FairMessages } from './fair-messages.ts'
import { createFates, type SqsFaults } from './message-faults.ts'
import type { Queue } from './queue.ts'
import {
  type BatchLimits,
  type Receive,
  receiveBatch,
  receiveFairly,
  receiveInOrder,
} from './receive-batch.ts'
import { Slots } from './slots.ts'
import { toSqsEvent } from './sqs-event.ts'

/** One request deletes at most this many messages. */
const DELETED_MAX = 10
const AFTER_THROTTLE_MS = 100
const AFTER_ERROR_MS = 200

export interface SqsEventSourceOptions extends BatchLimits {
  readonly queue: Queue
  readonly target: LambdaFunction
  /** At most this many batches run at a time, copies of doubled messages included. */
  readonly concurrencyMax: number
  /**
   * Messages with a group are handed out as by a fair queue. All that are visible are then received at once, so the visibility
   * timeout must be longer than they wait here.
   */
  readonly isFair?: boolean
  readonly faults?: SqsFaults
  readonly onBatch?: (delivery: BatchDelivery) => void
  /** It is called when the queue did not answer. The queue is then asked again. */
  readonly onError: (error: unknown) => void
}

export interface BatchDelivery {
  readonly messageIds: readonly string[]
  /** These messages of the batch were not deleted. */
  readonly failedIds: readonly string[]
  readonly outcome: InvocationOutcome['type']
}

export interface SqsCounts {
  /** A message that comes back counts again. */
  readonly received: number
  readonly delivered: number
  readonly deleted: number
  readonly lost: number
  readonly doubled: number
  readonly delayed: number
  readonly batches: number
  /** No message of these batches was deleted. */
  readonly batchesFailed: number
  readonly throttles: number
}

export interface SqsEventSource {
  counts(): SqsCounts
  /** Takes no more messages. Resolves when those under way have been handled. */
  stop(): Promise<void>
}

/** Starts to bring messages from a queue to a function that reports failures of single messages, as Lambda does. */
export function startSqsEventSource(options: SqsEventSourceOptions): SqsEventSource {
  const source = new EventSource(options)
  const polling = source.poll()
  return {
    counts: () => ({ ...source.counts }),
    async stop() {
      source.abort()
      await polling
      await source.untilDelivered()
    },
  }
}

class EventSource {
  readonly counts = {
    received: 0,
    delivered: 0,
    deleted: 0,
    lost: 0,
    doubled: 0,
    delayed: 0,
    batches: 0,
    batchesFailed: 0,
    throttles: 0,
  }
  readonly #options: SqsEventSourceOptions
  readonly #slots: Slots
  readonly #fair = new FairMessages()
  readonly #receive: Receive
  readonly #drawFate: ReturnType<typeof createFates>
  readonly #stop = new AbortController()
  readonly #underWay = new Set<Promise<void>>()

  constructor(options: SqsEventSourceOptions) {
    this.#options = options
    this.#slots = new Slots(options.concurrencyMax)
    const { queue, isFair = false } = options
    this.#receive = isFair ? receiveFairly(queue, this.#fair) : receiveInOrder(queue)
    this.#drawFate = createFates(options.faults)
  }

  async poll(): Promise<void> {
    const { queue, onError } = this.#options
    while (!this.#stop.signal.aborted) {
      await this.#slots.untilFree()
      try {
        const batch = await receiveBatch(this.#receive, this.#options, this.#stop.signal)
        this.counts.received += batch.length
        this.#meetFate(batch, Date.now() + queue.visibilityTimeoutMs)
      } catch (error: unknown) {
        if (this.#stop.signal.aborted) return
        onError(error)
        await pause(AFTER_ERROR_MS)
      }
    }
  }

  abort(): void {
    this.#stop.abort()
  }

  async untilDelivered(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  #meetFate(batch: readonly Message[], visibleAt: number): void {
    const whole: Message[] = []
    const copies: Message[] = []
    for (const message of batch) {
      const fate = this.#drawFate()
      if (fate.type === 'lost') {
        this.counts.lost += 1
        this.#begin(() => this.#delete([message]))
      } else if (fate.type === 'delayed') {
        this.counts.delayed += 1
        this.#begin(async () => {
          await pause(fate.delayMs)
          await this.#deliver([message], visibleAt)
        })
      } else whole.push(message)
      if (fate.type === 'doubled') copies.push(message)
    }
    this.counts.doubled += copies.length
    for (const messages of [whole, copies]) {
      if (messages.length > 0) this.#begin(() => this.#deliver(messages, visibleAt))
    }
  }

  #begin(work: () => Promise<void>): void {
    const running: Promise<void> = work()
      .catch(this.#options.onError)
      .finally(() => this.#underWay.delete(running))
    this.#underWay.add(running)
  }

  async #deliver(messages: readonly Message[], visibleAt: number): Promise<void> {
    await this.#slots.run(async () => {
      const startedAt = Date.now()
      const outcome = await this.#invoke(messages, visibleAt)
      this.#fair.end(messages, Date.now() - startedAt)
      const messageIds = messages.map(({ MessageId = '' }) => MessageId)
      const failures = outcome.type === 'answered' ? readBatchFailures(outcome.payload, messageIds) : 'all'
      const failedIds = failures === 'all' ? messageIds : messageIds.filter((id) => failures.has(id))
      this.counts.batches += 1
      this.counts.delivered += messages.length
      if (failedIds.length === messages.length) this.counts.batchesFailed += 1
      const done = messages.filter(({ MessageId = '' }) => !failedIds.includes(MessageId))
      await this.#delete(done)
      this.counts.deleted += done.length
      this.#options.onBatch?.({ messageIds, failedIds, outcome: outcome.type })
    })
  }

  /** Invokes the function. While it is throttled the messages wait, but only until they are visible to others again. */
  async #invoke(messages: readonly Message[], visibleAt: number): Promise<InvocationOutcome> {
    const { target, queue } = this.#options
    for (;;) {
      const outcome = await target.invoke(toSqsEvent(messages, queue.arn))
      if (outcome.type !== 'throttled') return outcome
      this.counts.throttles += 1
      if (Date.now() + AFTER_THROTTLE_MS > visibleAt) return outcome
      await pause(AFTER_THROTTLE_MS)
    }
  }

  async #delete(messages: readonly Message[]): Promise<void> {
    const { client, url } = this.#options.queue
    for (let from = 0; from < messages.length; from += DELETED_MAX) {
      const entries = messages.slice(from, from + DELETED_MAX).map(({ ReceiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle,
      }))
      await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries: entries }))
    }
  }
}
