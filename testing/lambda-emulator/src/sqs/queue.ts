import { CreateQueueCommand, GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { openSqsClient } from './sqs-client.ts'

const MS_PER_SECOND = 1000

export interface QueueOptions {
  /** The server listens at this http://127.0.0.1:PORT. */
  readonly endpoint: string
  readonly name: string
  /** It must be a multiple of a second. */
  readonly visibilityTimeoutMs: number
  /**
   * A message that was received `receivesMax` times without being deleted goes to this queue. By default it comes back
   * for ever.
   */
  readonly deadLetters?: { readonly queue: Queue; readonly receivesMax: number }
}

export interface Queue {
  readonly name: string
  readonly url: string
  readonly arn: string
  readonly visibilityTimeoutMs: number
  readonly client: SQSClient
}

export interface MessageCounts {
  readonly visible: number
  /** These messages were received, and are neither deleted nor visible again. */
  readonly inFlight: number
  /** These messages were sent with a delay that is not over. */
  readonly delayed: number
}

/** Creates a standard queue. The caller must destroy its client. */
export async function createQueue({
  endpoint,
  name,
  visibilityTimeoutMs,
  deadLetters,
}: QueueOptions): Promise<Queue> {
  if (visibilityTimeoutMs % MS_PER_SECOND !== 0) throw new RangeError('a visibility timeout is whole seconds')
  const client = openSqsClient(endpoint)
  const { QueueUrl: url = '' } = await client.send(
    new CreateQueueCommand({
      QueueName: name,
      Attributes: {
        VisibilityTimeout: String(visibilityTimeoutMs / MS_PER_SECOND),
        ...(deadLetters === undefined ? {} : { RedrivePolicy: writeRedrivePolicy(deadLetters) }),
      },
    }),
  )
  const { QueueArn: arn = '' } = await readAttributes(client, url)
  return { name, url, arn, visibilityTimeoutMs, client }
}

export async function countMessages({ client, url }: Queue): Promise<MessageCounts> {
  const attributes = await readAttributes(client, url)
  return {
    visible: Number(attributes.ApproximateNumberOfMessages),
    inFlight: Number(attributes.ApproximateNumberOfMessagesNotVisible),
    delayed: Number(attributes.ApproximateNumberOfMessagesDelayed),
  }
}

function writeRedrivePolicy({ queue, receivesMax }: NonNullable<QueueOptions['deadLetters']>): string {
  return JSON.stringify({ deadLetterTargetArn: queue.arn, maxReceiveCount: receivesMax })
}

async function readAttributes(client: SQSClient, url: string): Promise<Readonly<Record<string, string>>> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
  )
  return Attributes
}
