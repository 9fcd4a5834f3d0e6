import type {
  SendMessageBatchCommandInput,
  SendMessageBatchCommandOutput,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { WakeUpQueue, WakeUpRequest } from '@counterstep/core'
import { type LookMessage, lookMessages } from './wake-up-message.ts'

/** SQS's own bound. */
const BATCH_MAX = 10
const CONNECT_MS = 1_000
const REQUEST_MS = 3_000

/**
 * Asks for looks by messages of a standard queue, which may come late, twice or not at all. Its client is loaded with
 * the first message: a saga that ends where it was accepted needs none.
 */
export function sqsQueue(queueUrl: string): WakeUpQueue {
  let client: SQSClient | undefined
  return {
    async schedule(requests: readonly WakeUpRequest[]): Promise<void> {
      const { SendMessageBatchCommand, SQSClient } = await import('@aws-sdk/client-sqs')
      // Region and credentials are the function's own.
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
      const messages = lookMessages(requests)
      const sending: Promise<void>[] = []
      for (let from = 0; from < messages.length; from += BATCH_MAX) {
        const request = new SendMessageBatchCommand(batchOf(queueUrl, messages.slice(from, from + BATCH_MAX)))
        sending.push(sqs.send(request).then(refuseFailed))
      }
      await Promise.all(sending)
    },
  }
}

function batchOf(QueueUrl: string, messages: readonly LookMessage[]): SendMessageBatchCommandInput {
  const Entries = messages.map(({ body, delayS }, position) => ({
    Id: String(position),
    MessageBody: body,
    DelaySeconds: delayS,
  }))
  return { QueueUrl, Entries }
}

function refuseFailed({ Failed = [] }: SendMessageBatchCommandOutput): void {
  if (Failed.length > 0) throw new Error(`the queue refused ${Failed.length} messages: ${Failed[0]?.Code}`)
}
