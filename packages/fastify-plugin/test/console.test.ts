import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '@counterstep/access'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { KEYLESS, registerEmbedded } from './embedded-app.ts'

let folder = ''
let path = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-face-'))
  path = join(folder, 'counterstep.db')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

it('The console stands under the prefix, and one logs in there with a key of the app', async () => {
  const keysFile = join(folder, 'keys.json')
  const newKey = { name: 'ops', scopes: ['read'] as const, createdAt: 0, expiresAt: null }
  const { key } = await createKey(keysFile, newKey)
  const app = await registerEmbedded(path, { face: { keysFile, console: true, prefix: '/saga' } })
  const page = await app.inject({ url: '/saga/console' })
  expect([page.statusCode, page.headers.location]).toEqual([302, 'console/'])
  const login = await app.inject({
    method: 'POST',
    url: '/saga/v1/session',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ key }),
  })
  expect(login.headers['set-cookie']).toMatch(/^counterstep=[\w-]{43}; Path=\/saga; /)
  const [cookie = ''] = String(login.headers['set-cookie']).split(';')
  const ask = (headers: Readonly<Record<string, string>>) =>
    app.inject({ url: '/saga/v1/transactions', headers })
  expect((await ask({ cookie, 'counterstep-console': '1' })).statusCode).toBe(200)
  expect((await ask({ cookie })).statusCode).toBe(401)
  await app.close()
})

it('Without keys the console asks for none, and without the option there is none', async () => {
  const open = await registerEmbedded(path, { face: { ...KEYLESS, console: true } })
  const session = await open.inject({ url: '/counterstep/v1/session', headers: { host: '127.0.0.1' } })
  expect(session.json()).toMatchObject({ via: 'local' })
  await open.close()
  const plain = await registerEmbedded(path, { face: KEYLESS })
  const headers = { host: '127.0.0.1' }
  expect((await plain.inject({ url: '/counterstep/console/', headers })).statusCode).toBe(404)
  await plain.close()
})

it('The option is true or false', async () => {
  const face = { ...KEYLESS, console: 'yes' as unknown as boolean }
  await expect(registerEmbedded(path, { face })).rejects.toThrow('face.console must be true or false')
})
