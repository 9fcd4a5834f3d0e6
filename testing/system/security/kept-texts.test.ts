import { type BranchAnswer, readTraceContext } from '@counterstep/core'
import { memoryStore } from '@counterstep/store-conformance'
import { collectGarbage } from '@counterstep/test-servers/collect-garbage'
import { expect, it } from 'vitest'
import { openBothApis } from './both-apis.ts'

const MIB = 1024 * 1024
const HANGS = 'http://127.0.0.1:9/hangs'
const SAGAS = 300

interface Sent {
  readonly url: string
  readonly body: object
}

function readHeapMib(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed / MIB
}

/**
 * Tells by how much the heap grows when a request is sent for each of these sagas, one after the other. The calls of all branches
 * hang meanwhile.
 */
async function measureSent(sagas: readonly object[], build: (n: number) => Sent): Promise<number> {
  let end = (_: BranchAnswer): void => undefined
  const hangs = new Promise<BranchAnswer>((resolve) => {
    end = resolve
  })
  await using apis = await openBothApis(memoryStore(), { answer: () => hangs })
  const post = async ({ url, body }: Sent) => {
    const { status, body: text } = await apis.send({ api: 'native', method: 'POST', url, body })
    expect(status, text).toBeLessThan(300)
  }
  for (const body of sagas) await post({ url: '/v1/transactions', body })
  const heapMib = readHeapMib()
  for (let n = 0; n < SAGAS; n++) await post(build(n))
  const grownMib = readHeapMib() - heapMib
  end({ result: 'success', statusCode: 200 })
  return grownMib
}

it('S41: The blanks around the value of a header do not stay in memory', async () => {
  const measure = (blanks: string) =>
    measureSent([], (n) => {
      const value = `${blanks}a value of more than 13 characters`
      const headers = { 'x-a': value, 'x-b': value, 'x-c': value, 'x-d': value }
      return { url: '/v1/transactions', body: { gid: `s-${n}`, headers, branches: [{ action: HANGS }] } }
    })
  const grownMib = await measure('')
  expect((await measure(' '.repeat(8_000))) - grownMib).toBeLessThan(1)
})

it.each([
  ['A signal', '', 'signals/approve-approve', { id: 'id-1' }],
  ['The gid of a large transaction that is remembered', 'y'.repeat(40_000), 'retry', {}],
])('S41: %s does not keep the URL that it came with', async (_, payload, path, body) => {
  const branches = [
    { id: 'a', action: HANGS, payload },
    { id: 'w', after: ['a'], wait: { signal: 'approve-approve' } },
  ]
  const gids = Array.from({ length: SAGAS }, (_, n) => `a-saga-of-a-long-gid-${n}`)
  const measure = (query: string) =>
    measureSent(
      gids.map((gid) => ({ gid, branches })),
      (n) => ({ url: `/v1/transactions/${gids[n]}/${path}${query}`, body }),
    )
  const grownMib = await measure('')
  // The head of a request may just have so long a URL.
  expect((await measure(`?p=${'A'.repeat(14_000)}`)) - grownMib).toBeLessThan(1)
})

it('S41: A trace context does not keep what is left out of its headers', () => {
  const measure = (members: string, more: string) => {
    const before = readHeapMib()
    const contexts = Array.from({ length: SAGAS }, (_, n) =>
      // Each head has texts of its own, as bytes that have come.
      readTraceContext(
        Buffer.from(`01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01${more}`).toString(),
        Buffer.from(`vendor-${n}=a-value-of-the-vendor${members}`).toString(),
      ),
    )
    const grownMib = readHeapMib() - before
    expect(contexts.at(-1)?.state).toBe(`vendor-${SAGAS - 1}=a-value-of-the-vendor`)
    return grownMib
  }
  const grownMib = measure('', '')
  const members = Array.from({ length: 29 }, (_, n) => `,m${n}${'k'.repeat(230)}=${'b'.repeat(250)}`).join('')
  expect(measure(members, `-${'c'.repeat(14_000)}`) - grownMib).toBeLessThan(1)
})
