/** These defects of DTM can be shown only by whole processes; the numbers are those of docs/reliability.md. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TransactionView } from '@counterstep/protocol'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { until } from '@counterstep/test-servers/until'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Child, startChild } from './child-process.ts'

const STUCK_MS = 60_000

describe('a node that is killed and started again', () => {
  const timeZone = process.env.TZ
  let folder: string
  let branches: Server
  /** This holds when each gid's branch was called, by this process's clock. */
  const calledAt = new Map<string, number>()
  let status = 200
  let node: Child | undefined

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'counterstep-defects-'))
    calledAt.clear()
    status = 200
    branches = createServer((request, response) => {
      const gid = new URL(request.url ?? '', 'http://x').searchParams.get('gid') ?? ''
      calledAt.set(gid, Date.now())
      request.resume().on('end', () => response.writeHead(status).end('{}'))
    })
    branches.listen(0, '127.0.0.1')
    await once(branches, 'listening')
  })

  afterEach(async () => {
    if (timeZone === undefined) delete process.env.TZ
    else process.env.TZ = timeZone
    await node?.kill('SIGTERM')
    branches.closeAllConnections()
    branches.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function start(...flags: readonly string[]): Promise<void> {
    const place = ['--port', '0', '--data', folder, '--ready-json', '--log-level', 'error']
    node = await startChild(COUNTERSTEP_PROGRAM, ['serve', ...place, ...flags])
  }

  async function killAndStart(...flags: readonly string[]): Promise<void> {
    await node?.kill('SIGKILL')
    await start(...flags)
  }

  async function submit(gid: string, more: object = {}): Promise<TransactionView> {
    const { port } = branches.address() as AddressInfo
    const action = `http://127.0.0.1:${port}/a`
    const answer = await fetch(`${node?.url}/v1/transactions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ gid, branches: [{ action }], ...more }),
    })
    expect(answer.status).toBe(202)
    return (await answer.json()) as TransactionView
  }

  async function view(gid: string): Promise<TransactionView> {
    return (await (await fetch(`${node?.url}/v1/transactions/${gid}`)).json()) as TransactionView
  }

  it('9.14: a node in another time zone calls what was delayed at its millisecond, neither at once nor hours later', async () => {
    process.env.TZ = 'Asia/Kathmandu'
    await start('--poll-ms', '50')
    const { createdAt, startAt } = await submit('delayed', { delayMs: 7_001 })
    expect(startAt).toBe(createdAt + 7_001)
    expect([...calledAt.keys()]).toEqual([])
    process.env.TZ = 'America/St_Johns'
    await killAndStart('--poll-ms', '50')
    await until('it is done', STUCK_MS, async () => (await view('delayed')).status === 'succeeded')
    expect(await view('delayed')).toMatchObject({ createdAt, startAt })
    const lateMs = (calledAt.get('delayed') ?? 0) - (startAt ?? 0)
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(30_000)
  })

  it('9.4: sagas that hung during an outage end together, not one after the other at each poll', async () => {
    const gids = Array.from({ length: 60 }, (_, index) => `hung-${index}`)
    const flags = ['--retry-initial-ms', '500', '--retry-cap-ms', '500', '--poll-ms', '500']
    await start(...flags)
    status = 503
    for (const gid of gids) await submit(gid)
    await until('all were called', STUCK_MS, () => calledAt.size === gids.length)
    status = 200
    const startedAt = Date.now()
    await killAndStart(...flags)
    for (const gid of gids) {
      await until(`${gid} is done`, STUCK_MS, async () => (await view(gid)).status === 'succeeded')
    }
    // If one ended at each poll, they would take half a minute, even without a call's own time.
    expect(Date.now() - startedAt).toBeLessThan(gids.length * 500)
  })
})
