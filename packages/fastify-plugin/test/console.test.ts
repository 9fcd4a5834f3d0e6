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
  expect((await ask({ cookie, 'counterstep-console': login.json().secret })).statusCode).toBe(200)
  expect((await ask({ cookie, 'counterstep-console': '1' })).statusCode).toBe(401)
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

it('The panels have the settings in force and, for admin alone, the keys', async () => {
  const keysFile = join(folder, 'keys.json')
  const create = async (scope: 'read' | 'admin') =>
    (await createKey(keysFile, { name: scope, scopes: [scope], createdAt: 0, expiresAt: null })).key
  const [reader, admin] = [await create('read'), await create('admin')]
  const face = { keysFile, console: true }
  const app = await registerEmbedded(path, { face, settings: { pollMs: 700 } })
  const ask = async (panel: string, key: string) =>
    (
      await app.inject({ url: `/counterstep/v1/panels${panel}`, headers: { authorization: `Bearer ${key}` } })
    ).json()
  expect((await ask('/settings', reader)).rows).toContainEqual(['pollMs', '700'])
  expect(await ask('/keys', reader)).toMatchObject({ code: 'SAGA_FORBIDDEN' })
  expect(await ask('', admin)).toEqual({ items: [{ id: 'keys', title: 'API keys' }] })
  const { rows } = await ask('/keys', admin)
  expect(rows.map(([, name]: readonly string[]) => name)).toEqual(['admin', 'read'])
  await app.close()
})

it('The option is true or false', async () => {
  const face = { ...KEYLESS, console: 'yes' as unknown as boolean }
  await expect(registerEmbedded(path, { face })).rejects.toThrow('face.console must be true or false')
})
