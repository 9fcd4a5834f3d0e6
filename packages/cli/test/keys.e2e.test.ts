import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@counterstep/sdk'
import { afterEach, beforeEach, expect, it } from 'vitest'
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

async function createKey(scopes: string, name = 'ci'): Promise<string> {
  const { code, stdout } = await run('keys', 'create', '--name', name, '--scopes', scopes)
  expect([code, stdout]).toEqual([0, [expect.stringMatching(/^cs_[a-z0-9]{12}_[\w-]{43}$/)]])
  return stdout[0] ?? ''
}

it('S10: does not start beyond loopback without keys, and says what to do', async () => {
  const process = new ServeProcess(['serve', '--host', '0.0.0.0', '--port', '0', '--data', folder])
  expect((await process.ended()).code).toBe(1)
  expect(process.stderr).toEqual([
    expect.stringMatching(/^counterstep: --host 0\.0\.0\.0 .*--insecure-no-keys/),
  ])
})

it('S10: starts there when it is said by name, warns, and shows it in /health/ready', async () => {
  const { process, url } = await ServeProcess.listening(folder, '--host', '0.0.0.0', '--insecure-no-keys')
  const ready = await fetch(`${url}/health/ready`)
  expect(await ready.json()).toMatchObject({ status: 'ready', insecure: ['no-keys'] })
  process.signal('SIGTERM')
  await process.ended()
  expect(process.output).toContain('--insecure-no-keys: anyone who reaches 0.0.0.0 may submit')
})

it('S10: does not start without the file that it was told of', async () => {
  const { code, stdout } = await run('serve', '--port', '0', '--data', folder)
  expect(code).toBe(1)
  expect(stdout.join()).toContain('SAGA_KEYS_UNUSABLE: the file of keys cannot be read (ENOENT)')
})

it('S11: keys are made, used, changed over and revoked while the server runs, and are in no output of it', async () => {
  const old = await createKey('submit,read')
  const { process, url } = await ServeProcess.listening(folder, '--keys-file', keysFile, '--dtm-port', '0')
  const clientWith = (apiKey: string) => createClient({ url, apiKey, retryForMs: 0 })
  const ask = (key: string) => clientWith(key).page({ limit: 1 })

  expect((await fetch(`${url}/v1/transactions`)).status).toBe(401)
  expect((await fetch(`${url}/health/live`)).status).toBe(200)
  expect(await (await fetch(`${url}/health/ready`)).json()).toEqual({ status: 'ready' })
  await expect(ask(old)).resolves.toEqual({ items: [] })
  await expect(clientWith(old).retry('a')).rejects.toMatchObject({ code: 'SAGA_FORBIDDEN', status: 403 })

  const fresh = await createKey('submit,read')
  await process.logged('keys read again')
  await expect(ask(fresh)).resolves.toEqual({ items: [] })
  await expect(ask(old)).resolves.toEqual({ items: [] })

  const revoked = await run('keys', 'revoke', old.split('_')[1] ?? '')
  expect([revoked.code, revoked.stdout]).toEqual([0, []])
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

it('S11: the list shows what a key is and not the key', async () => {
  const key = await createKey('admin', 'ops')
  const { stdout } = await run('keys', 'list')
  expect(stdout).toEqual([expect.stringMatching(/^[a-z0-9]{12} ops admin created \S+Z does not expire$/)])
  expect(stdout.join()).not.toContain(key.slice(16))
})

it('S17: a key may be used as often as the server says', async () => {
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
