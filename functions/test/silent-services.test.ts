import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Gid } from '@counterstep/protocol'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSecretReader } from '../src/secrets.ts'
import { createSqsQueue } from '../src/sqs-queue.ts'

/** This only tells a client that gives up from one that waits for ever. */
const GIVES_UP_MS_MAX = 25_000

describe('a service of AWS that takes requests and never answers', () => {
  let server: Server
  let url: string
  beforeAll(async () => {
    server = createServer((socket) => socket.on('error', () => socket.destroy()).resume())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    vi.stubEnv('AWS_REGION', 'eu-central-1')
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', url)
  })
  afterAll(() => {
    vi.unstubAllEnvs()
    server.close()
  })

  it.concurrent('A queue that never answers does not keep the caller who asks for wake-ups', {
    timeout: GIVES_UP_MS_MAX,
  }, async () => {
    const asked = createSqsQueue(`${url}/000000000000/looks`, { warn: () => undefined }).schedule([
      { gid: 'a' as Gid, dueInMs: 0 },
    ])
    await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it.concurrent('A secrets manager that never answers does not keep the caller who asks for a secret', {
    timeout: GIVES_UP_MS_MAX,
  }, async () => {
    const asked = createSecretReader()('arn:aws:secretsmanager:eu-central-1:123456789012:secret:a-AbCdEf')
    await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})
