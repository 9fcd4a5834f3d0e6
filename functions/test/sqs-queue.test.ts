import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Gid } from '@counterstep/protocol'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createSqsQueue } from '../src/sqs-queue.ts'

interface Entry {
  readonly Id: string
  readonly MessageBody: string
  readonly MessageGroupId?: string
}

/** Starts a queue that takes every message, and returns its URL. */
async function startQueue(entries: Entry[]): Promise<string> {
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { Entries: Entry[] }
    entries.push(...asked.Entries)
    response.setHeader('content-type', 'application/x-amz-json-1.0')
    response.end(JSON.stringify({ Successful: [], Failed: [] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/queue`
}

it('S40: Messages carry the group of their transactions, so that a queue of AWS is a fair one', async () => {
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b')
  onTestFinished(() => void vi.unstubAllEnvs())
  const entries: Entry[] = []
  const queue = createSqsQueue(await startQueue(entries))
  await queue.schedule([
    { gid: 'a' as Gid, dueInMs: 0, group: 'x1' },
    { gid: 'b' as Gid, dueInMs: 0, group: 'x2' },
    { gid: 'c' as Gid, dueInMs: 0 },
  ])
  expect(entries.map(({ MessageBody, MessageGroupId }) => [MessageBody, MessageGroupId])).toEqual([
    ['{"gids":["a"],"group":"x1"}', 'x1'],
    ['{"gids":["b"],"group":"x2"}', 'x2'],
    ['{"gids":["c"]}', undefined],
  ])
})
