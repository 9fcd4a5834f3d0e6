import type {
  SendMessageBatchCommandInput,
  SendMessageBatchCommandOutput,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { WakeUpQueue, WakeUpRequest } from '@counterstep/core'
import { buildWakeUpMessages, type WakeUpMessage } from './wake-up-message.ts'

/** SQS takes at most this many messages in one request. */
const BATCH_MAX = 10
const CONNECT_MS = 1_000
const REQUEST_MS = 3_000

/**
 * Creates a queue that sends wake-up requests as messages of a standard queue, which may come late, twice or not at all.
 * Groups make it a fair one: AWS hands out the messages of others before those of a group that keeps the consumers busy.
 * AWS's client is loaded with the first message, since a saga that ends in the invocation that accepted it needs none.
 */
export function createSqsQueue(queueUrl: string): WakeUpQueue {
  let client: SQSClient | undefined
  return {
    async schedule(requests: readonly WakeUpRequest[]): Promise<void> {
      const { SendMessageBatchCommand, SQSClient } = await import('@aws-sdk/client-sqs')
      // The client takes region and credentials from the function's environment.
      client ??= new SQSClient({
        endpoint: new URL(queueUrl).origin,
        maxAttempts: 2,
        requestHandler: {
          connectionTimeout: CONNECT_MS,
          requestTimeout: REQUEST_MS,
          throwOnRequestTimeout: true,
        },
      })
      const sqs = client
      const messages = buildWakeUpMessages(requests)
      const sending: Promise<void>[] = []
      for (let from = 0; from < messages.length; from += BATCH_MAX) {
        const request = new SendMessageBatchCommand(
          buildBatch(queueUrl, messages.slice(from, from + BATCH_MAX)),
        )
        sending.push(sqs.send(request).then(throwIfRefused))
      }
      await Promise.all(sending)
    },
  }
}

function buildBatch(QueueUrl: string, messages: readonly WakeUpMessage[]): SendMessageBatchCommandInput {
  const Entries = messages.map(({ body, delayS, group }, position) => ({
    Id: String(position),
    MessageBody: body,
    DelaySeconds: delayS,
    MessageGroupId: group,
  }))
  return { QueueUrl, Entries }
}

function throwIfRefused({ Failed = [] }: SendMessageBatchCommandOutput): void {
  if (Failed.length > 0) throw new Error(`the queue refused ${Failed.length} messages: ${Failed[0]?.Code}`)
}
