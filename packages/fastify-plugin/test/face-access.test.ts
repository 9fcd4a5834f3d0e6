import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '@counterstep/access'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Face } from '../src/index.ts'
import { checkFaceOption } from '../src/open-gate.ts'
import { registerEmbedded } from './embedded-app.ts'

let folder = ''
let keysFile = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-face-access-'))
  keysFile = join(folder, 'keys.json')
  await createKey(keysFile, { name: 'orders', scopes: ['read'], createdAt: Date.now(), expiresAt: null })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const keys = { find: () => undefined }
/** It stands for an option that is not in the face at all. */
const LEFT_OUT = Symbol('left out')
const WRONG_VALUES = [LEFT_OUT, undefined, null, false, true, '', [], 0]

/** Registers the plugin with the face, and returns the status of a list that is asked for without a key. */
async function askWithoutKey(face: object, host = '127.0.0.1') {
  const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  await using app = await registerEmbedded(join(folder, 'counterstep.db'), { face: face as Face, logger })
  const { statusCode } = await app.inject({ url: '/counterstep/v1/transactions', headers: { host } })
  const { insecure } = (await app.inject({ url: '/counterstep/health/ready' })).json()
  return { statusCode, insecure, warnings: logger.warn.mock.calls.flat() }
}

describe('S11: who may use the HTTP API of an app', () => {
  it.each<[string, () => object]>([
    ['a file, and undefined keys', () => ({ keysFile, keys: undefined })],
    ['a file, and insecureNoKeys: false', () => ({ keysFile, insecureNoKeys: false })],
    ['a file, and insecureNoKeys: undefined', () => ({ keysFile, insecureNoKeys: undefined })],
    ['a finder, and insecureNoKeys: false', () => ({ keys, insecureNoKeys: false })],
    ['a finder, and an undefined file', () => ({ keys, keysFile: undefined, insecureNoKeys: undefined })],
    [
      'a face that inherits undefined keys',
      () => Object.assign(Object.create({ keys: undefined }), { keysFile }),
    ],
    [
      'a console, names of hosts and undefined keys',
      () => ({ keysFile, keys: undefined, console: true, allowedHosts: ['orders.example'] }),
    ],
  ])('S11: A face with %s asks for a key', async (_name, buildFace) => {
    expect(await askWithoutKey(buildFace())).toEqual({ statusCode: 401, insecure: undefined, warnings: [] })
  })

  it('S11: A face asks for no key where insecureNoKeys is true and neither other option is given, and in no other combination', () => {
    const combinations = listCombinations()
    expect(combinations).toHaveLength(9 ** 3)
    const counts = { 'insecure-no-keys': 0, 'keys-file': 0, keys: 0, refused: 0 }
    for (const face of combinations) {
      const found = findAccess(face)
      counts[found] += 1
      const isKeyless = face.insecureNoKeys === true && face.keysFile === undefined && face.keys === undefined
      expect([face, found === 'insecure-no-keys']).toEqual([face, isKeyless])
      if (found === 'keys-file') expect(face.keysFile).toBe(keysFile)
      if (found === 'keys') expect(face.keys).toBe(keys)
    }
    // Each other option may be left out or undefined, and insecureNoKeys may be false too.
    expect(counts).toEqual({ 'insecure-no-keys': 4, 'keys-file': 6, keys: 6, refused: 729 - 16 })
  })

  it('S11: A face that is changed after its check asks for the keys that were checked', async () => {
    const face: { keysFile?: string; insecureNoKeys?: boolean } = { keysFile }
    const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
    const path = join(folder, 'counterstep.db')
    // The store is opened after the check, and before the gate.
    const store = () => {
      Object.assign(face, { keysFile: undefined, insecureNoKeys: true })
      return openSqliteStore({ path })
    }
    await using app = await registerEmbedded(path, { face: face as Face, logger, store })
    expect(face.insecureNoKeys).toBe(true)
    expect((await app.inject({ url: '/counterstep/v1/transactions' })).statusCode).toBe(401)
  })

  it('S11: A face without keys warns, shows it and answers a loopback Host alone', async () => {
    const face = { insecureNoKeys: true, keysFile: undefined, keys: undefined }
    const { statusCode, insecure, warnings } = await askWithoutKey(face)
    expect([statusCode, insecure]).toEqual([200, ['no-keys']])
    expect(warnings).toContainEqual(expect.stringContaining('insecureNoKeys'))
    expect((await askWithoutKey(face, 'evil.example')).statusCode).toBe(421)
  })
})

/** Lists the faces that have each wrong value, or a good one, at each of the three options. */
function listCombinations(): Record<string, unknown>[] {
  const faces: Record<string, unknown>[] = []
  for (const file of [...WRONG_VALUES, keysFile])
    for (const finder of [...WRONG_VALUES, keys])
      for (const without of [...WRONG_VALUES, 'true']) {
        const named = { keysFile: file, keys: finder, insecureNoKeys: without }
        faces.push(Object.fromEntries(Object.entries(named).filter(([, value]) => value !== LEFT_OUT)))
      }
  return faces
}

function findAccess(face: object): 'insecure-no-keys' | 'keys-file' | 'keys' | 'refused' {
  try {
    return checkFaceOption(face as Face).type
  } catch (error: unknown) {
    expect(error).toBeInstanceOf(TypeError)
    return 'refused'
  }
}
