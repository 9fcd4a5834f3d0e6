import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readCommand } from '../src/config.ts'
import { startBranchService, submit } from './branch-service.ts'
import { ServeProcess } from './serve-process.ts'

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function runSignal(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  return new Promise<Outcome>((resolve) => {
    execFile(
      process.execPath,
      [COUNTERSTEP_PROGRAM, 'signal', ...args],
      { env: { PATH: process.env.PATH, ...environment } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

describe('counterstep signal', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signal-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('The command gives a waiting saga its signal, and says when it is kept, doubled or refused', async () => {
    const service = await startBranchService()
    const { process: server, url } = await ServeProcess.listening(folder)
    const branches = [
      { id: 'approved', wait: { signal: 'approval' } },
      { id: 'again', wait: { signal: 'approval' } },
      { id: 'pay', action: service.url, template: { by: { $from: 'approved', at: '/by' } } },
    ]
    try {
      await submit(url, { gid: 'order-1', branches })
      const click = ['order-1', 'approval', '--id', 'click-1', '--payload', '{"by":"kim"}', '--url', url]
      const first = await runSignal(click)
      expect(first).toMatchObject({ code: 0, stderr: '' })
      expect(first.stdout).toMatch(/^order-1 (has taken|keeps) the signal approval, id click-1/)
      expect((await runSignal(click)).stdout).toContain('order-1 has taken the signal approval, id click-1')
      const other = await runSignal(['order-1', 'approval', '--id', 'click-1', '--url', url])
      expect(other).toMatchObject({ code: 1, stdout: '' })
      expect(other.stderr).toContain('SAGA_SIGNAL_CONFLICT')
      const unknown = await runSignal(['order-1', 'approvals'], { COUNTERSTEP_URL: url })
      expect(unknown.stderr).toContain('SAGA_SIGNAL_UNKNOWN')
      await runSignal(['order-1', 'approval', '--payload', '1'], { COUNTERSTEP_URL: `${url}/` })
      const repeated = await submit(url, { gid: 'order-1', branches }, 20)
      expect(await repeated.json()).toMatchObject({ status: 'succeeded' })
    } finally {
      server.signal('SIGTERM')
      await server.ended()
      service.close()
    }
  })

  it('The command says under which id a signal may be sent again when the server does not answer', async () => {
    const lost = await runSignal(['order-1', 'approval', '--id', 'click-1', '--url', 'http://127.0.0.1:1'])
    expect(lost).toMatchObject({ code: 1, stdout: '' })
    expect(lost.stderr).toContain('Send it again with --id click-1')
  })

  it('The command takes no page of a proxy, and no answer about another transaction, for that of its signal', async () => {
    const ofAnother = JSON.stringify({ gid: 'h', name: 'n', id: 'click-1', state: 'taken' })
    for (const body of ['<html></html>', '{}', 'null', ofAnother]) {
      const proxy = createServer((_, response) => response.end(body))
      await once(proxy.listen(0, '127.0.0.1'), 'listening')
      const { port } = proxy.address() as AddressInfo
      const lost = await runSignal(['g', 'n', '--id', 'click-1', '--url', `http://127.0.0.1:${port}`])
      proxy.close()
      expect(lost).toEqual({
        code: 1,
        stdout: '',
        stderr: 'counterstep: the answer was not that of a signal. Send it again with --id click-1\n',
      })
    }
  })

  it('The command does not believe a refusal that is about another transaction', async () => {
    const server = createServer((_, response) =>
      response.writeHead(409).end(JSON.stringify({ code: 'SAGA_FINAL', detail: 'h has ended', gid: 'h' })),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const refused = await runSignal(['g', 'n', '--id', 'click-1', '--url', `http://127.0.0.1:${port}`])
    server.close()
    expect(refused).toEqual({ code: 1, stdout: '', stderr: 'counterstep: HTTP 409\n' })
  })

  it('The command reads the API key from a variable or a file, and quotes no argument in a refusal', async () => {
    const path = join(folder, 'key')
    await writeFile(path, 'cs_key_of_the_file\n')
    const read = (args: readonly string[], environment = {}) => readCommand(['signal', ...args], environment)
    expect(read(['g', 'n', '--api-key-file', path])).toMatchObject({
      type: 'signal',
      command: { apiKey: 'cs_key_of_the_file', url: 'http://127.0.0.1:8470' },
    })
    expect(read(['g', 'n'], { COUNTERSTEP_API_KEY: 'cs_k' })).toMatchObject({ command: { apiKey: 'cs_k' } })
    const refused = [
      ['s3cr3t'],
      ['g', 'n', '--api-key', 's3cr3t'],
      ['g', 'n', '--payload', 's3cr3t'],
      ['g', 'n', 's3cr3t'],
      ['g', 'n', '--url', 'http://kim:s3cr3t@bank.test'],
      ['g', 'n', '--url', 'http://bank.test/?key=s3cr3t'],
      ['g', 'n', '--url', 'http://bank.test/#s3cr3t'],
    ]
    const badKeys = ['s3cr3t\nother', 's3cr3t€', 's3cr3t other']
    const commands = [
      ...refused.map((args) => read(args)),
      ...badKeys.map((key) => read(['g', 'n'], { COUNTERSTEP_API_KEY: key })),
    ]
    for (const command of commands) {
      expect(command.type).toBe('refused')
      expect(JSON.stringify(command)).not.toContain('s3cr3t')
    }
    expect((await runSignal(['--help'])).stdout).toContain('counterstep signal GID NAME')
  })
})
