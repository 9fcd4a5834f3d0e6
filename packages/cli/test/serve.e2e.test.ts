import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TransactionView } from '@counterstep/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type BranchService, startBranchService, submit } from './branch-service.ts'
import { ServeProcess } from './serve-process.ts'

let folder = ''
const branches: BranchService[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-serve-'))
})

afterEach(async () => {
  for (const branch of branches.splice(0)) branch.close()
  await rm(folder, { recursive: true, force: true })
})

async function branchService(answerMs: number | 'never' = 0): Promise<BranchService> {
  const branch = await startBranchService(answerMs)
  branches.push(branch)
  return branch
}

it('A server starts, runs a saga, and stops cleanly on SIGTERM', async () => {
  const { process, url } = await ServeProcess.listening(folder)
  const branch = await branchService()
  const response = await submit(url, { branches: [{ action: branch.url }] }, 10)
  expect(response.status).toBe(200)
  expect(((await response.json()) as TransactionView).status).toBe('succeeded')
  process.signal('SIGTERM')
  const { code, tookMs } = await process.ended()
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(5_000)
  expect(process.stderr).toEqual([])
})

it.runIf(existsSync('/proc/self/cmdline'))(
  'A server bounds its young generation, under the same pid',
  async () => {
    const { process } = await ServeProcess.listening(folder)
    const args = readFileSync(`/proc/${process.pid}/cmdline`, 'utf8').split('\0')
    process.signal('SIGTERM')
    expect(args).toContain('--max-semi-space-size=16')
  },
)

it('A server shows its OpenAPI document as a page', async () => {
  const { process, url } = await ServeProcess.listening(folder)
  for (const part of ['/docs', '/docs/json', '/docs/static/swagger-ui-bundle.js']) {
    const response = await fetch(url + part)
    expect(response.status, part).toBe(200)
    const { byteLength } = await response.arrayBuffer()
    expect(response.headers.get('content-length'), part).toBe(String(byteLength))
  }
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
})

it('A server speaks DTM on a port of its own, whose page leads to the console, and stops that HTTP API too', async () => {
  const { process } = await ServeProcess.listening(folder, '--dtm-port', '0', '--console', 'on')
  const ready = process.stdout.find((line) => line.startsWith('{"url":')) ?? '{}'
  const { dtmUrl, consoleUrl } = JSON.parse(ready) as Record<string, string>
  const page = await fetch(`${dtmUrl}/admin`, { redirect: 'manual' })
  expect([page.status, page.headers.get('location')]).toEqual([302, consoleUrl])
  const branch = await branchService()
  const submitted = await fetch(`${dtmUrl}/api/dtmsvr/submit`, {
    method: 'POST',
    body: JSON.stringify({
      gid: 'of-dtm',
      trans_type: 'saga',
      steps: [{ action: branch.url, compensate: '' }],
      payloads: ['{}'],
      wait_result: true,
    }),
  })
  expect(await submitted.text()).toBe('{"dtm_result":"SUCCESS"}')
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
  await expect(fetch(`${dtmUrl}/api/ping`)).rejects.toThrow()
})

it('A server does not start when the port of DTM is taken, and says how to choose another', async () => {
  const first = await ServeProcess.listening(folder, '--dtm-port', '0')
  const { dtmUrl } = JSON.parse(first.process.stdout.find((line) => line.startsWith('{"url":')) ?? '{}')
  const { port } = new URL(dtmUrl)
  const other = join(folder, 'other')
  const second = new ServeProcess(['serve', '--port', '0', '--dtm-port', port, '--data', other])
  expect((await second.ended()).code).toBe(1)
  expect(second.output).toContain(`port ${port} of 127.0.0.1 is taken; choose another with --dtm-port`)
  first.process.signal('SIGTERM')
  await first.process.ended()
})

it('A server prints nothing on stdout but JSON, and says at start where it stores and how durably', async () => {
  const { process, url } = await ServeProcess.listening(folder)
  process.signal('SIGINT')
  expect((await process.ended()).code).toBe(0)
  const lines = process.stdout.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines.find(({ msg }) => msg === 'listening')).toMatchObject({
    url,
    store: 'sqlite',
    durabilityClass: 'A',
    failover: 'none',
    place: join(folder, 'counterstep.db'),
  })
})

it('A server has after a restart what was submitted before', async () => {
  const branch = await branchService()
  const first = await ServeProcess.listening(folder)
  const accepted = await submit(first.url, {
    gid: 'kept',
    delayMs: 3_600_000,
    branches: [{ action: branch.url }],
  })
  expect(accepted.status).toBe(202)
  first.process.signal('SIGTERM')
  expect((await first.process.ended()).code).toBe(0)
  const second = await ServeProcess.listening(folder)
  const response = await fetch(`${second.url}/v1/transactions/kept`)
  expect(await response.json()).toMatchObject({ gid: 'kept', status: 'submitted' })
  second.process.signal('SIGTERM')
  expect((await second.process.ended()).code).toBe(0)
})

it('A server lets a call in flight end before it stops, and refuses new work meanwhile', async () => {
  const { process, url } = await ServeProcess.listening(folder)
  const branch = await branchService(1_500)
  const answer = submit(url, { gid: 'slow', branches: [{ action: branch.url }] }, 20)
  await branch.called
  process.signal('SIGTERM')
  await process.logged('stopping')
  const refused = await submit(url, { branches: [{ action: branch.url }] })
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({ code: 'SAGA_STOPPING' })
  expect((await answer).ok).toBe(true)
  const { code, tookMs } = await process.ended()
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(9_500)
})

it('A server ends within 10 s though a branch never answers, and the saga waits for the next start', async () => {
  const { process, url } = await ServeProcess.listening(folder, '--branch-timeout-ms', '60000')
  const branch = await branchService('never')
  await submit(url, { gid: 'stuck', branches: [{ action: branch.url }] })
  await branch.called
  process.signal('SIGTERM')
  const { code, tookMs } = await process.ended()
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(10_000)
  const next = await ServeProcess.listening(folder)
  expect(await (await fetch(`${next.url}/v1/transactions/stuck`)).json()).toMatchObject({
    status: 'submitted',
  })
  next.process.signal('SIGTERM')
  next.process.signal('SIGTERM')
  await next.process.ended()
})

it('A server ends at once on a second signal', async () => {
  const { process, url } = await ServeProcess.listening(folder, '--branch-timeout-ms', '60000')
  const branch = await branchService('never')
  await submit(url, { branches: [{ action: branch.url }] })
  await branch.called
  process.signal('SIGTERM')
  await process.logged('stopping')
  process.signal('SIGINT')
  const { code, tookMs } = await process.ended()
  expect(code).toBe(130)
  expect(tookMs).toBeLessThan(2_000)
})

it('A server refuses a store that another process has, and names the file', async () => {
  const first = await ServeProcess.listening(folder)
  const second = new ServeProcess(['serve', '--port', '0', '--data', folder])
  expect((await second.ended()).code).toBe(1)
  expect(second.stdout).toHaveLength(1)
  expect(JSON.parse(second.stdout[0] ?? '')).toEqual(
    expect.objectContaining({
      code: 'SAGA_STORE_IN_USE',
      msg: expect.stringContaining(join(folder, 'counterstep.db')),
    }),
  )
  expect(second.stdout[0]).not.toContain('"stack"')
  first.process.signal('SIGTERM')
  expect((await first.process.ended()).code).toBe(0)
})

it('A server says which port is taken, and ends', async () => {
  const first = await ServeProcess.listening(folder)
  const port = new URL(first.url).port
  const other = join(folder, 'other')
  const second = new ServeProcess(['serve', '--port', port, '--data', other])
  expect((await second.ended()).code).toBe(1)
  expect(second.stdout.join('\n')).toContain(`port ${port} of 127.0.0.1 is taken; choose another with --port`)
  first.process.signal('SIGTERM')
  await first.process.ended()
})

it('A server prints every fault of its configuration on stderr, and starts nothing', async () => {
  const process = new ServeProcess(['serve', '--port', 'x', '--data', folder], { COUNTERSTEP_LEASE_MS: '1' })
  expect((await process.ended()).code).toBe(1)
  expect(process.stdout).toEqual([])
  expect(process.stderr).toEqual([
    'counterstep: --port must be a whole number from 0 to 65535.',
    'counterstep: COUNTERSTEP_LEASE_MS must be a whole number from 1000 to 3600000.',
  ])
})

it('A server warns in its log of what its store may lose', async () => {
  const { process, url } = await ServeProcess.listening(folder, '--sqlite-synchronous', 'normal')
  const ready = await (await fetch(`${url}/health/ready`)).json()
  expect(ready).toMatchObject({ store: { durabilityClass: 'B', failover: 'none', forced: false } })
  process.signal('SIGTERM')
  await process.ended()
  expect(process.output).toContain('The store is class B: a power loss may take the last 2 s')
})

it('The command prints its version and its help', async () => {
  const version = new ServeProcess(['--version'])
  expect((await version.ended()).code).toBe(0)
  expect(version.stdout).toEqual(['0.1.0'])
  const help = new ServeProcess(['--help'])
  expect((await help.ended()).code).toBe(0)
  expect(help.stdout[0]).toContain('counterstep serve')
})
