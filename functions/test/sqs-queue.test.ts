import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WakeUpRequest } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSqsQueue } from '../src/sqs-queue.ts'

interface Entry {
  readonly Id: string
  readonly MessageBody: string
  readonly MessageGroupId?: string
}

interface Queue {
  readonly url: string
  /** The entries of each request. */
  readonly asked: Entry[][]
}

type Reply = readonly [status: number, body: object]
const TAKEN: Reply = [200, { Successful: [], Failed: [] }]

/** Starts a queue that takes every message, or answers as it is told. */
async function startQueue(reply: (entries: readonly Entry[]) => Reply = () => TAKEN): Promise<Queue> {
  const asked: Entry[][] = []
  const server = createServer(async (request, response) => {
    const { Entries } = JSON.parse(Buffer.concat(await request.toArray()).toString()) as { Entries: Entry[] }
    asked.push(Entries)
    const [status, body] = reply(Entries)
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/queue`, asked }
}

beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b')
  return () => void vi.unstubAllEnvs()
})

function ask(gid: string, group?: string): WakeUpRequest {
  return { gid: gid as Gid, dueInMs: 0, ...(group === undefined ? {} : { group }) }
}

it('S40: Messages carry the group of their transactions, so that a queue of AWS is a fair one', async () => {
  const { url, asked } = await startQueue()
  const warn = vi.fn()
  await createSqsQueue(url, { warn }).schedule([ask('a', 'x1'), ask('b', 'x2'), ask('c')])
  expect(asked.flat().map(({ MessageBody, MessageGroupId }) => [MessageBody, MessageGroupId])).toEqual([
    ['{"gids":["a"],"group":"x1"}', 'x1'],
    ['{"gids":["b"],"group":"x2"}', 'x2'],
    ['{"gids":["c"]}', undefined],
  ])
  expect(warn).not.toHaveBeenCalled()
})

const REASON =
  'Value x1 for parameter MessageGroupId is invalid. Reason: The request include parameter that is not valid for this queue type.'

describe('a queue that refuses groups', () => {
  /** Refuses each entry that has a group. */
  const refuseEntries =
    (Code: string, Message?: string) =>
    (entries: readonly Entry[]): Reply => {
      const refused = entries.filter(({ MessageGroupId }) => MessageGroupId !== undefined)
      return [200, { Failed: refused.map(({ Id }) => ({ Id, Code, SenderFault: true, Message })) }]
    }

  it.each([
    ['in each entry by its code', refuseEntries('InvalidParameterValue')],
    ['in each entry by its message', refuseEntries('InvalidRequest', REASON)],
    ['by its code', (): Reply => [400, { __type: 'com.amazonaws.sqs#InvalidParameterValueException' }]],
    ['by its message', (): Reply => [400, { __type: 'com.amazonaws.sqs#InvalidRequest', message: REASON }]],
  ] as const)('S40: Gets its messages without groups, which is said once: %s', async (_how, refuse) => {
    const { url, asked } = await startQueue((entries) =>
      entries.some(({ MessageGroupId }) => MessageGroupId !== undefined) ? refuse(entries) : TAKEN,
    )
    const warn = vi.fn()
    const queue = createSqsQueue(url, { warn })
    await queue.schedule([ask('c'), ...Array.from({ length: 15 }, (_, n) => ask(`a${n}`, `x${n}`))])
    expect(asked).toHaveLength(4)
    const sent = asked.slice(2).flatMap((entries) => entries.map(({ MessageBody }) => MessageBody))
    expect(sent).toHaveLength(16)
    expect(sent).toContain('{"gids":["a14"],"group":"x14"}')
    await queue.schedule([ask('b', 'x2')])
    expect(asked).toHaveLength(5)
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['refuses all messages', 'InvalidParameterValue', 2],
    ['is throttled', 'RequestThrottled', 1],
  ])('Messages keep their groups where a queue %s', async (_what, code, requests) => {
    let isDown = true
    const { url, asked } = await startQueue((entries) =>
      isDown ? [200, { Failed: entries.map(({ Id }) => ({ Id, Code: code, SenderFault: true })) }] : TAKEN,
    )
    const warn = vi.fn()
    const queue = createSqsQueue(url, { warn })
    await expect(queue.schedule([ask('a', 'x1')])).rejects.toThrow(`refused 1 messages: ${code}`)
    expect(asked).toHaveLength(requests)
    isDown = false
    await queue.schedule([ask('b', 'x1')])
    expect(asked.at(-1)?.[0]?.MessageGroupId).toBe('x1')
    expect(warn).not.toHaveBeenCalled()
  })
})
