import { setTimeout as pause } from 'node:timers/promises'
import { type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import type { FairMessages } from './fair-messages.ts'
import type { Queue } from './queue.ts'

const LONG_POLL_S = 20
const RECEIVED_MAX = 10
const MS_PER_SECOND = 1000
/** When the rest of a window is too short for a long poll, the queue is asked at this interval. */
const POLL_EVERY_MS = 50
/** So many visible messages are known, of which the next ones are chosen. */
const KNOWN_MAX = 2_000

/** Receives up to `wanted` messages, for which it waits up to `waitS`. */
export type Receive = (wanted: number, waitS: number, signal: AbortSignal) => Promise<readonly Message[]>

export interface BatchLimits {
  readonly batchSizeMax: number
  /** A batch that is not full waits this long for more messages. */
  readonly batchingWindowMs: number
}

/** Waits for a first message, then for more of them until the batch is full or its window is over. */
export async function receiveBatch(
  receive: Receive,
  { batchSizeMax, batchingWindowMs }: BatchLimits,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const batch = [...(await receive(batchSizeMax, LONG_POLL_S, signal))]
  if (batch.length === 0) return batch
  const endAt = Date.now() + batchingWindowMs
  while (batch.length < batchSizeMax && Date.now() < endAt) {
    const waitS = Math.min(LONG_POLL_S, Math.floor((endAt - Date.now()) / MS_PER_SECOND))
    const more = await receive(batchSizeMax - batch.length, waitS, signal)
    batch.push(...more)
    if (more.length === 0 && waitS === 0) await pause(POLL_EVERY_MS, undefined, { signal })
  }
  return batch
}

/** Receives messages in the order in which the server has them. */
export function receiveInOrder(queue: Queue): Receive {
  return (wanted, waitS, signal) => request(queue, wanted, waitS, signal)
}

/** Receives all that is visible, and hands it out fairly. */
export function receiveFairly(queue: Queue, fair: FairMessages): Receive {
  return async (wanted, waitS, signal) => {
    for (let known = -1; known < fair.waiting && fair.waiting < KNOWN_MAX; ) {
      known = fair.waiting
      fair.add(await request(queue, RECEIVED_MAX, known === 0 ? waitS : 0, signal))
    }
    return fair.take(wanted)
  }
}

async function request(
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
