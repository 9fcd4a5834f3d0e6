import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TransactionView } from '@counterstep/protocol'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { submit } from './branch-service.ts'
import { ServeProcess } from './serve-process.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'targets-'))
})
afterEach(() => rm(folder, { recursive: true }))

interface Branch {
  readonly url: string
  readonly requests: readonly IncomingMessage[]
  connections: number
  connectionsMax: number
}

/** Starts a participant that counts its connections. */
async function branchService(answerMs = 0): Promise<Branch> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    setTimeout(() => response.end('a secret of the branch'), answerMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const branch: Branch = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections: 0,
    connectionsMax: 0,
  }
  server.on('connection', (socket) => {
    branch.connections++
    branch.connectionsMax = Math.max(branch.connectionsMax, branch.connections)
    socket.on('close', () => {
      branch.connections--
    })
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return branch
}

it('S1: A server does not start beyond loopback before it is configured where branches are', async () => {
  const process = new ServeProcess(['serve', '--host', '0.0.0.0', '--port', '0', '--data', folder])
  expect((await process.ended()).code).toBe(1)
  expect(process.output).toMatch(/--services .* --allow-targets .* --allow-any-target/)
})

it('S1: A server calls a named service, shows it as written, and follows it when it moves', async () => {
  const [before, after] = [await branchService(), await branchService()]
  const first = await ServeProcess.listening(folder, '--services', `bank=${before.url}/old`)
  const body = { gid: 'a', branches: [{ action: 'bank:/debit' }] }
  expect(await (await submit(first.url, body, 10)).json()).toMatchObject({ status: 'succeeded' })
  expect(before.requests.map(({ url }) => url)).toEqual([
    expect.stringMatching(/^\/old\/debit\?gid=a&.*&token=[^&]+$/),
  ])
  const later = { gid: 'b', delayMs: 1_000, branches: [{ action: 'bank:/debit' }] }
  expect((await submit(first.url, later)).status).toBe(202)
  first.process.signal('SIGTERM')
  await first.process.ended()
  const second = await ServeProcess.listening(folder, '--services', `bank=${after.url}/new`)
  const status = async () => {
    const view = (await (await fetch(`${second.url}/v1/transactions/b`)).json()) as TransactionView
    return [view.status, view.branches[0]?.ops[0]?.url]
  }
  await expect.poll(status, { timeout: 15_000 }).toEqual(['succeeded', 'bank:/debit'])
  expect(after.requests.map(({ url }) => url)).toEqual([
    expect.stringMatching(/^\/new\/debit\?gid=b&.*&token=[^&]+$/),
  ])
  expect(before.requests).toHaveLength(1)
  const unlisted = await submit(second.url, { branches: [{ action: `${after.url}/new/debit` }] })
  expect(unlisted.status).toBe(422)
  expect(await unlisted.json()).toMatchObject({ code: 'SAGA_TARGET_NOT_ALLOWED' })
  second.process.signal('SIGTERM')
  await second.process.ended()
})

it('S6, S7, S8: A server calls past the proxies of its environment, keeps its bound of connections, and keeps no answer', async () => {
  const [branch, proxy] = [await branchService(20), await branchService()]
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
  const environment = {
    ...Object.fromEntries(names.map((name) => [name, proxy.url])),
    NO_PROXY: '',
    no_proxy: '',
    NODE_USE_ENV_PROXY: '1',
  }
  const bounds = ['--connections-per-origin-max', '2', '--answer-excerpts', 'off']
  const args = ['serve', '--ready-json', '--port', '0', '--data', folder, ...bounds]
  const process = new ServeProcess(args, environment)
  const url = await process.url()
  const bodies = Array.from({ length: 12 }, (_, n) => ({ gid: `g${n}`, branches: [{ action: branch.url }] }))
  const views = await Promise.all(bodies.map(async (body) => (await submit(url, body, 20)).json()))
  expect(views).toEqual(Array(12).fill(expect.objectContaining({ status: 'succeeded' })))
  expect([branch.requests.length, branch.connectionsMax, proxy.requests.length]).toEqual([12, 2, 0])
  expect(JSON.stringify(views)).not.toContain('secret')
  const named = branch.requests.flatMap(({ headers }) => Object.keys(headers))
  for (const name of ['authorization', 'cookie', 'proxy-authorization', 'via', 'forwarded'])
    expect(named).not.toContain(name)
  process.signal('SIGTERM')
  await process.ended()
})
