import { SQSClient } from '@aws-sdk/client-sqs'
import { REGION } from '../function-spec.ts'

/** A client of a server that takes any credentials. */
export function openSqsClient(endpoint: string): SQSClient {
  return new SQSClient({
    endpoint,
    region: REGION,
    credentials: { accessKeyId: 'emulated', secretAccessKey: 'emulated' },
    // A client that polls asks again anyway.
    maxAttempts: 1,
  })
}
