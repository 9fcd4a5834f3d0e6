import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '@counterstep/access'
import { createClient } from '@counterstep/sdk'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runKeys } from '../src/run-keys.ts'
import { ServeProcess } from './serve-process.ts'

let folder = ''
let keysFile = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-keys-'))
  keysFile = join(folder, 'keys.json')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function run(...args: string[]) {
  const process = new ServeProcess(args, { COUNTERSTEP_KEYS_FILE: keysFile })
  const { code } = await process.ended()
  return { code, stdout: process.stdout, stderr: process.stderr.join('\n') }
}

const TARGETS = ['--services', 'bank=http://127.0.0.1:9']

/** Creates a key as the command does, without the time that a process takes to start. */
async function createKey(...scopes: Scope[]): Promise<string> {
  const asked = { verb: 'create', path: keysFile, name: 'ci', scopes, expiresInDays: null } as const
  return (await runKeys(asked, Date.now())).stdout.trim()
}

it('S10: A server does not start beyond loopback without keys, and says what to do', async () => {
  const process = new ServeProcess([
    'serve',
    '--host',
    '0.0.0.0',
    ...TARGETS,
    '--port',
    '0',
    '--data',
    folder,
  ])
  expect((await process.ended()).code).toBe(1)
  expect(process.stderr).toEqual([
    expect.stringMatching(/^counterstep: --host 0\.0\.0\.0 .*--insecure-no-keys/),
  ])
})

it('S10: A server starts beyond loopback without keys when a flag says so, warns, and shows it in /health/ready', async () => {
  const { process, url } = await ServeProcess.listening(
    folder,
    '--host',
    '0.0.0.0',
    '--insecure-no-keys',
    ...TARGETS,
  )
  const ready = await fetch(`${url}/health/ready`)
  expect(await ready.json()).toMatchObject({ status: 'ready', insecure: ['no-keys'] })
  process.signal('SIGTERM')
  await process.ended()
  expect(process.output).toContain('--insecure-no-keys: anyone who reaches 0.0.0.0 may submit')
})

it('S10: A server does not start when the keys file that it is given is missing', async () => {
  const { code, stdout } = await run('serve', '--port', '0', '--data', folder)
  expect(code).toBe(1)
  expect(stdout.join()).toContain('SAGA_KEYS_UNUSABLE: the file of keys cannot be read (ENOENT)')
})

it('S11: Keys are made, used, replaced and revoked while the server runs, and are in no output of it', async () => {
  const old = await createKey('submit', 'read')
  const { process, url } = await ServeProcess.listening(folder, '--keys-file', keysFile, '--dtm-port', '0')
  const clientWith = (apiKey: string) => createClient({ url, apiKey, retryForMs: 0 })
  const ask = (key: string) => clientWith(key).page({ limit: 1 })

  expect((await fetch(`${url}/v1/transactions`)).status).toBe(401)
  expect((await fetch(`${url}/health/live`)).status).toBe(200)
  expect(await (await fetch(`${url}/health/ready`)).json()).toEqual({ status: 'ready' })
  await expect(ask(old)).resolves.toEqual({ items: [] })
  await expect(clientWith(old).retry('a')).rejects.toMatchObject({ code: 'SAGA_FORBIDDEN', status: 403 })

  const fresh = await createKey('submit', 'read')
  await process.logged('keys read again')
  await expect(ask(fresh)).resolves.toEqual({ items: [] })
  await expect(ask(old)).resolves.toEqual({ items: [] })

  await runKeys({ verb: 'revoke', path: keysFile, id: old.split('_')[1] ?? '' }, Date.now())
  await expect
    .poll(
      () =>
        ask(old).then(
          () => 'good',
          (error) => error.code,
        ),
      { timeout: 5_000 },
    )
    .toBe('SAGA_UNAUTHENTICATED')
  await expect(ask(fresh)).resolves.toEqual({ items: [] })

  await appendFile(keysFile, 'broken')
  await process.logged('the keys file is broken; the old keys stay')
  await expect(ask(fresh)).resolves.toEqual({ items: [] })

  const { dtmUrl } = JSON.parse(process.stdout.find((line) => line.startsWith('{"url":')) ?? '{}')
  expect((await fetch(`${dtmUrl}/api/dtmsvr/all`)).status).toBe(401)
  const authorization = `Basic ${Buffer.from(`any:${fresh}`).toString('base64')}`
  expect((await fetch(`${dtmUrl}/api/dtmsvr/all`, { headers: { authorization } })).status).toBe(200)

  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
  for (const key of [old, fresh]) expect(process.output).not.toContain(key.slice(16))
})

it('S11: The command keys prints a new key alone, and lists its data without the key', async () => {
  const created = await run('keys', 'create', '--name', 'ops', '--scopes', 'admin')
  expect(created.code).toBe(0)
  const [key = '', ...more] = created.stdout
  expect([key, more]).toEqual([expect.stringMatching(/^cs_[a-z0-9]{12}_[\w-]{43}$/), []])
  const listed = await run('keys', 'list')
  expect(listed.stdout).toEqual([
    expect.stringMatching(/^[a-z0-9]{12} ops admin created \S+Z does not expire$/),
  ])
  const revoked = await run('keys', 'revoke', key.split('_')[1] ?? '')
  expect([revoked.code, revoked.stdout]).toEqual([0, []])
  const output = [listed.stdout, created.stderr, listed.stderr, revoked.stderr].join()
  expect(output).not.toContain(key.slice(16))
})

it('A server on loopback answers to loopback names and to configured ones, and to no other Host', async () => {
  const more = ['--dtm-port', '0', '--allowed-hosts', 'orders.example', '--insecure-no-keys']
  const { process, url } = await ServeProcess.listening(folder, ...more)
  const { dtmUrl } = JSON.parse(process.stdout.find((line) => line.startsWith('{"url":')) ?? '{}')
  for (const [host, status] of [
    ['evil.example', 421],
    ['localhost', 200],
    ['orders.example', 200],
  ] as const) {
    expect([host, await readStatus(`${url}/v1/transactions`, host)]).toEqual([host, status])
    expect([host, await readStatus(`${dtmUrl}/api/dtmsvr/all`, host)]).toEqual([host, status])
  }
  expect(await readStatus(`${url}/health/ready`, 'evil.example')).toBe(200)
  process.signal('SIGTERM')
  await process.ended()
})

/** Sends a request with this Host, because Node's `fetch` sets the Host by itself. */
function readStatus(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { host } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sent.on('error', reject).end()
  })
}

it('S17: A key may be used as often as the server allows, and is answered with 429 beyond that', async () => {
  const key = await createKey('read')
  const { process, url } = await ServeProcess.listening(
    folder,
    '--keys-file',
    keysFile,
    '--rate-per-key',
    '1',
  )
  const headers = { authorization: `Bearer ${key}` }
  const many = Array.from(
    { length: 20 },
    async () => (await fetch(`${url}/v1/transactions`, { headers })).status,
  )
  expect(new Set(await Promise.all(many))).toEqual(new Set([200, 429]))
  process.signal('SIGTERM')
  await process.ended()
})
