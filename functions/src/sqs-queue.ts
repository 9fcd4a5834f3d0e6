import type {
  SendMessageBatchCommandInput,
  SendMessageBatchCommandOutput,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { WakeUpQueue, WakeUpRequest } from '@counterstep/core'
import type { Logger } from '@counterstep/engine'
import { buildWakeUpMessages, type WakeUpMessage } from './wake-up-message.ts'

/** SQS takes at most this many messages in one request. */
const BATCH_MAX = 10
const CONNECT_MS = 1_000
const REQUEST_MS = 3_000
const NO_GROUPS =
  'this queue takes no message groups, so the messages of one caller may keep those of others waiting'

type SendBatch = (batch: SendMessageBatchCommandInput) => Promise<SendMessageBatchCommandOutput>

/**
 * Creates a queue that sends wake-up requests as messages of a standard queue, which may come late, twice or not at all.
 * Groups make it a fair one: AWS hands out the messages of others before those of a group that keeps the consumers busy.
 * A queue that refuses groups, since it knows them only of FIFO queues, gets its messages without them.
 * AWS's client is loaded with the first message, since a saga that ends in the invocation that accepted it needs none.
 */
export function createSqsQueue(queueUrl: string, logger: Pick<Logger, 'warn'>): WakeUpQueue {
  let client: SQSClient | undefined
  let takesGroups = true

  async function send(sendBatch: SendBatch, messages: readonly WakeUpMessage[]): Promise<void> {
    const hasGroups = takesGroups && messages.some(({ group }) => group !== undefined)
    try {
      await sendBatch(buildBatch(queueUrl, messages, hasGroups)).then(throwIfRefused)
    } catch (error: unknown) {
      if (!hasGroups || !isOfGroups(error)) throw error
      await sendBatch(buildBatch(queueUrl, messages, false)).then(throwIfRefused)
      // Other batches may have been refused at the same time.
      if (takesGroups) logger.warn({ queueUrl, err: error }, NO_GROUPS)
      takesGroups = false
    }
  }

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
        const sendBatch: SendBatch = (batch) => sqs.send(new SendMessageBatchCommand(batch))
        sending.push(send(sendBatch, messages.slice(from, from + BATCH_MAX)))
      }
      await Promise.all(sending)
    },
  }
}

function buildBatch(
  QueueUrl: string,
  messages: readonly WakeUpMessage[],
  hasGroups: boolean,
): SendMessageBatchCommandInput {
  const Entries = messages.map(({ body, delayS, group }, position) => ({
    Id: String(position),
    MessageBody: body,
    DelaySeconds: delayS,
    ...(hasGroups ? { MessageGroupId: group } : {}),
  }))
  return { QueueUrl, Entries }
}

function throwIfRefused({ Failed = [] }: SendMessageBatchCommandOutput): void {
  const refusals = Failed.map(({ Code = '', Message = '' }) => {
    const refusal = new Error(`the queue refused ${Failed.length} messages: ${Code} ${Message}`)
    return Object.assign(refusal, { name: Code })
  })
  const first = refusals.find(isOfGroups) ?? refusals[0]
  if (first !== undefined) throw first
}

/** A refusal may be of another parameter. Then the messages are refused without groups, too. */
function isOfGroups(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name.startsWith('InvalidParameter') || error.message.includes('MessageGroupId')
}
