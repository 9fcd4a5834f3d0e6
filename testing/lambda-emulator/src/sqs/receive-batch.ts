import { setTimeout as pause } from 'node:timers/promises'
import { type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import type { Queue } from './queue.ts'

const LONG_POLL_S = 20
const RECEIVED_MAX = 10
const MS_PER_SECOND = 1000
/** When the rest of a window is too short for a long poll, the queue is asked at this interval. */
const POLL_EVERY_MS = 50

export interface BatchLimits {
  readonly batchSizeMax: number
  /** A batch that is not full waits this long for more messages. */
  readonly batchingWindowMs: number
}

/** Waits for a first message, then for more of them until the batch is full or its window is over. */
export async function receiveBatch(
  queue: Queue,
  { batchSizeMax, batchingWindowMs }: BatchLimits,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const batch = [...(await receive(queue, batchSizeMax, LONG_POLL_S, signal))]
  if (batch.length === 0) return batch
  const endAt = Date.now() + batchingWindowMs
  while (batch.length < batchSizeMax && Date.now() < endAt) {
    const waitS = Math.min(LONG_POLL_S, Math.floor((endAt - Date.now()) / MS_PER_SECOND))
    const more = await receive(queue, batchSizeMax - batch.length, waitS, signal)
    batch.push(...more)
    if (more.length === 0 && waitS === 0) await pause(POLL_EVERY_MS, undefined, { signal })
  }
  return batch
}

async function receive(
  { client, url }: Queue,
  wanted: number,
  waitS: number,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: Math.min(RECEIVED_MAX, wanted),
      WaitTimeSeconds: waitS,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    }),
    { abortSignal: signal },
  )
  return Messages
}
