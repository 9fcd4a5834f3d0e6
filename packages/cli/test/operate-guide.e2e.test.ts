import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { startBranchService, submit } from './branch-service.ts'
import { ServeProcess } from './serve-process.ts'

const METRICS_GUIDE = new URL('../../../docs/guides/observe.md', import.meta.url)
const WAIT_MS_MAX = 15_000

let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-operate-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const sagaAt = (bank: string, gid: string) => ({
  gid,
  // The branch is called once, and not again while the test runs unless a command asks for it.
  retry: { initialMs: 600_000, capMs: 600_000 },
  branches: [
    { id: 'debit', action: `${bank}/debit`, compensation: `${bank}/undo` },
    { id: 'credit', action: `${bank}/credit`, compensation: `${bank}/credit-undo` },
  ],
})

it('A stuck saga is reported, found, read and mended as docs/guides/operate.md says', async () => {
  // The service refuses the credit and, until it is mended, to undo the debit.
  let isMended = false
  const bank = await startBranchService(0, (path) =>
    path === '/credit' || (path === '/undo' && !isMended) ? 409 : 200,
  )
  onTestFinished(() => bank.close())
  const { process, url } = await ServeProcess.listening(folder)
  onTestFinished(async () => {
    process.signal('SIGTERM')
    await process.ended()
  })
  const get = async (path: string) => (await fetch(`${url}${path}`)).json()
  const give = (gid: string, command: 'retry' | 'stop') =>
    fetch(`${url}/v1/transactions/${gid}/${command}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"reason":"the books were corrected"}',
    })

  await submit(url, sagaAt(new URL(bank.url).origin, 'order-4711'))
  await process.logged('transaction-needs-attention')
  const line = process.output.split('\n').find((text) => text.includes('transaction-needs-attention'))
  expect(JSON.parse(line ?? '')).toMatchObject({
    level: 40,
    gid: 'order-4711',
    detail: 'compensation of branch debit answered failure',
  })
  const listed = { items: [{ gid: 'order-4711', status: 'aborting', retrying: true, attention: true }] }
  // The event is reported before the row is stored.
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

  isMended = true
  expect((await give('order-4711', 'retry')).status).toBe(202)
  await vi.waitFor(
    async () => expect(await get('/v1/transactions/order-4711')).toMatchObject({ status: 'failed' }),
    {
      timeout: WAIT_MS_MAX,
    },
  )

  isMended = false
  await submit(url, sagaAt(new URL(bank.url).origin, 'order-4712'))
  await process.printed('"gid":"order-4712","detail":"compensation of branch debit answered failure"')
  const stopped = await give('order-4712', 'stop')
  expect(stopped.status).toBe(200)
  expect(await stopped.json()).toMatchObject({ status: 'stopped' })
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain(
    'counterstep_engine_events_total{level="warn",event="transaction-needs-attention"} 2\n',
  )
  const guide = await readFile(METRICS_GUIDE, 'utf8')
  const watched = [...guide.matchAll(/^\| `(counterstep_\w+)/gm)].map(([, name]) => name)
  expect(watched.length).toBeGreaterThan(5)
  for (const name of watched) expect(metrics).toContain(`# TYPE ${name} `)
  expect(await get('/v1/transactions?attention=true')).toMatchObject({ items: [] })
})
