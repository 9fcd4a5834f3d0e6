import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signedCallCheck } from '@counterstep/sdk/signatures'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runSigningKeyCommand } from '../src/signing-key-command.ts'
import { submit } from './branch-service.ts'
import { ServeProcess } from './serve-process.ts'

const TIMEOUT_MS = 30_000

/** Starts a service that notes for each call whether it was signed, by its method and op. */
async function startCheckedService(publicKey: string) {
  const calls = new Map<string, string>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const url = baseUrl + request.url
    const { method = '', headers } = request
    const refused = check({ method, url, headers, body: Buffer.concat(chunks) })
    const op = new URL(url).searchParams.get('op')
    calls.set(`${method} ${op}`, refused === undefined ? 'signed' : String(refused.error))
    response.statusCode = op === 'action' && new URL(url).pathname === '/no' ? 409 : 200
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const check = signedCallCheck({ keys: [publicKey], baseUrl })
  return { url: baseUrl, calls }
}

async function serveSigned(...more: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-signed-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const keyFile = join(folder, 'key.pem')
  const [publicKey = ''] = runSigningKeyCommand(['create', '--out', keyFile]).stdout
  const flags = ['--signing-key-file', keyFile, ...more]
  const { process, url } = await ServeProcess.listening(join(folder, 'data'), ...flags)
  onTestFinished(async () => {
    process.signal('SIGKILL')
    await process.ended()
  })
  return { process, url, publicKey, service: await startCheckedService(publicKey) }
}

describe('a server with a signing key', () => {
  it('S18: A server with a key signs actions, compensations and the query-back of a message', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { url, service, process } = await serveSigned()
    const branch = (id: string, path: string) => ({
      id,
      action: service.url + path,
      compensation: `${service.url}/undo`,
      payload: { cents: 1 },
    })
    const saga = { kind: 'saga', branches: [branch('a', '/yes'), branch('b', '/no')] }
    expect(await (await submit(url, saga, 10)).json()).toMatchObject({ status: 'failed' })
    const message = {
      gid: 'm-1',
      kind: 'message',
      branches: [{ id: 'a', action: `${service.url}/yes`, payload: {} }],
      check: { url: `${service.url}/query`, afterMs: 1_000 },
    }
    const prepared = await fetch(`${url}/v1/transactions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
    })
    expect([prepared.status, await prepared.text()]).toEqual([
      expect.any(Number),
      expect.stringContaining('m-1'),
    ])
    await expect.poll(() => service.calls.get('GET msg'), { timeout: 15_000 }).toBeDefined()
    expect(Object.fromEntries(service.calls)).toEqual({
      'POST action': 'signed',
      'POST compensate': 'signed',
      'GET msg': 'signed',
    })
    expect(process.output).toContain('branch calls are signed')
  })

  it("S18: A server with a key signs the calls of a transaction that came over DTM's HTTP API", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { process, service } = await serveSigned('--dtm-port', '0')
    const dtmUrl = /"dtmUrl":"([^"]+)"/.exec(process.stdout.join('\n'))?.[1]
    const step = { action: `${service.url}/yes`, compensate: `${service.url}/undo` }
    const submitted = await fetch(`${dtmUrl}/api/dtmsvr/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        gid: 'd-1',
        trans_type: 'saga',
        steps: [step],
        payloads: ['{}'],
        wait_result: true,
      }),
    })
    expect([submitted.status, await submitted.text()]).toEqual([200, expect.stringContaining('SUCCESS')])
    expect(Object.fromEntries(service.calls)).toEqual({ 'POST action': 'signed' })
  })
})
