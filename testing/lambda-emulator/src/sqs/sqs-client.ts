import { SQSClient } from '@aws-sdk/client-sqs'
import { REGION } from '../function-spec.ts'

/** Opens a client for a server that accepts any credentials. */
export function openSqsClient(endpoint: string): SQSClient {
  return new SQSClient({
    endpoint,
    region: REGION,
    credentials: { accessKeyId: 'emulated', secretAccessKey: 'emulated' },
    // One attempt is enough, since a client that polls asks again anyway.
    maxAttempts: 1,
  })
}
