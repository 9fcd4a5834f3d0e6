import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { ServeProcess } from './serve-process.ts'

const GUIDE = new URL('../../../docs/guides/operate.md', import.meta.url)
const WAIT_MS_MAX = 15_000

let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-operate-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** A bank that refuses the credit and, until it is mended, to undo the debit. */
async function startBank() {
  const bank = { url: '', isMended: false }
  const server = createServer((request, response) => {
    const refuses =
      request.url?.startsWith('/credit?') || (request.url?.startsWith('/undo?') && !bank.isMended)
    response.writeHead(refuses ? 409 : 200).end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  bank.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return bank
}

const sagaAt = (bankUrl: string, gid: string) => ({
  gid,
  // Without a command it is asked once, and not again while the test runs.
  retry: { initialMs: 600_000, capMs: 600_000 },
  branches: [
    { id: 'debit', action: `${bankUrl}/debit`, compensation: `${bankUrl}/undo` },
    { id: 'credit', action: `${bankUrl}/credit`, compensation: `${bankUrl}/credit-undo` },
  ],
})

it('a stuck saga is told of, found, read and mended as docs/guides/operate.md says', async () => {
  const bank = await startBank()
  const { process, url } = await ServeProcess.listening(folder)
  onTestFinished(async () => {
    process.signal('SIGTERM')
    await process.ended()
  })
  const get = async (path: string) => (await fetch(`${url}${path}`)).json()
  const post = async (path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body ?? {}),
    })
    return { status: response.status, view: (await response.json()) as { readonly status: string } }
  }

  await post('/v1/transactions', sagaAt(bank.url, 'order-4711'))
  await process.logged('transaction-needs-attention')
  const line = process.output.split('\n').find((text) => text.includes('transaction-needs-attention'))
  expect(JSON.parse(line ?? '')).toMatchObject({
    level: 40,
    gid: 'order-4711',
    detail: 'compensation of branch debit answered failure',
  })
  const listed = { items: [{ gid: 'order-4711', status: 'aborting', retrying: true, attention: true }] }
  // It is told before it is stored.
  await vi.waitFor(
    async () => {
      expect(await get('/v1/transactions?attention=true')).toMatchObject(listed)
      expect(await get('/v1/transactions?retrying=true')).toMatchObject(listed)
    },
    { timeout: WAIT_MS_MAX },
  )
  const undo = { op: 'compensate', result: 'failure', statusCode: 409 }
  expect(await get('/v1/transactions/order-4711')).toMatchObject({
    attention: 'compensation of branch debit answered failure',
    abort: { cause: 'branch-failed', branchId: 'credit' },
    branches: [{ ops: [{ state: 'succeeded' }, undo] }, { ops: [{ state: 'failed' }, {}] }],
  })

  bank.isMended = true
  expect((await post('/v1/transactions/order-4711/retry')).status).toBe(202)
  await vi.waitFor(
    async () => expect(await get('/v1/transactions/order-4711')).toMatchObject({ status: 'failed' }),
    {
      timeout: WAIT_MS_MAX,
    },
  )

  bank.isMended = false
  await post('/v1/transactions', sagaAt(bank.url, 'order-4712'))
  await process.printed('"gid":"order-4712","detail":"compensation of branch debit answered failure"')
  expect(await post('/v1/transactions/order-4712/stop')).toMatchObject({
    status: 200,
    view: { status: 'stopped' },
  })
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain(
    'counterstep_engine_events_total{level="warn",event="transaction-needs-attention"} 2\n',
  )
  const guide = await readFile(GUIDE, 'utf8')
  const watched = [...guide.matchAll(/^\| `(counterstep_\w+)/gm)].map(([, name]) => name)
  expect(watched.length).toBeGreaterThan(5)
  for (const name of watched) expect(metrics).toContain(`# TYPE ${name} `)
  expect(await get('/v1/transactions?attention=true')).toMatchObject({ items: [] })
})
