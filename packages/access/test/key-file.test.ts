import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isCounterstepError } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { createKey, openKeyFile, revokeKey, type Scope } from '../src/index.ts'
import { makeKeyFolder } from './key-folder.ts'

const ASKED = {
  name: 'ci',
  scopes: ['submit', 'read'] as readonly Scope[],
  createdAt: 1_000,
  expiresAt: null,
}
const onPosix = it.runIf(process.platform !== 'win32')

async function readRefusal(outcome: Promise<unknown>): Promise<string> {
  const error: unknown = await outcome.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isCounterstepError(error)) throw new Error('was not refused', { cause: error })
  expect(error.code).toBe('SAGA_KEYS_UNUSABLE')
  return error.message
}

describe('S11: the file of keys', () => {
  it('The keys file has the SHA-256 of a key of 256 random bits, its name, scopes and times, but not the key', async () => {
    await using folder = await makeKeyFolder()
    const { key } = await createKey(folder.path, ASKED)
    const [, id = '', secret = ''] = /^cs_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/.exec(key) ?? []
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
    const text = await readFile(folder.path, 'utf8')
    expect(text).not.toContain(secret)
    expect(JSON.parse(text)).toEqual({
      version: 1,
      keys: [
        {
          id,
          name: 'ci',
          secretSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          scopes: ASKED.scopes,
          createdAt: 1_000,
          expiresAt: null,
        },
      ],
    })
  })

  onPosix('The keys file can be read by its owner alone', async () => {
    await using folder = await makeKeyFolder()
    await createKey(folder.path, ASKED)
    expect((await stat(folder.path)).mode & 0o777).toBe(0o600)
  })

  for (const mode of [0o604, 0o602, 0o620, 0o644, 0o666]) {
    onPosix(`The keys file is refused with the mode ${mode.toString(8)}`, async () => {
      await using folder = await makeKeyFolder()
      await createKey(folder.path, ASKED)
      await chmod(folder.path, mode)
      expect(await readRefusal(openKeyFile(folder.path))).toContain(`mode ${mode.toString(8)}`)
      await readRefusal(createKey(folder.path, ASKED))
    })
  }

  onPosix('The keys file may be readable for a group, as a mounted secret is, and stays so', async () => {
    await using folder = await makeKeyFolder()
    await createKey(folder.path, ASKED)
    await chmod(folder.path, 0o640)
    await createKey(folder.path, ASKED)
    expect((await stat(folder.path)).mode & 0o777).toBe(0o640)
    expect((await openKeyFile(folder.path)).keys.size).toBe(2)
  })

  it('A name has at most two active keys, so that its holders can change over', async () => {
    await using folder = await makeKeyFolder()
    const { stored } = await createKey(folder.path, ASKED)
    await createKey(folder.path, { ...ASKED, expiresAt: 5_000 })
    expect(await readRefusal(createKey(folder.path, ASKED))).toContain(`${stored.id} and `)
    await createKey(folder.path, { ...ASKED, name: 'other' })
    // One of the keys has expired by then.
    await createKey(folder.path, { ...ASKED, createdAt: 5_000 })
    await revokeKey(folder.path, stored.id)
    await createKey(folder.path, { ...ASKED, createdAt: 5_001 })
    expect((await openKeyFile(folder.path)).keys.size).toBe(4)
  })

  it('A revoked key is forgotten, and an id that is not there cannot be revoked', async () => {
    await using folder = await makeKeyFolder()
    const { stored } = await createKey(folder.path, ASKED)
    await revokeKey(folder.path, stored.id)
    expect((await openKeyFile(folder.path)).keys.size).toBe(0)
    expect(await readRefusal(revokeKey(folder.path, stored.id))).toContain('no key of this id')
  })

  it('No key is lost when many are made at once: each is made or is told to wait', async () => {
    await using folder = await makeKeyFolder()
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`)
    const outcomes = await Promise.allSettled(names.map((name) => createKey(folder.path, { ...ASKED, name })))
    const made = outcomes.filter(({ status }) => status === 'fulfilled')
    expect(made.length).toBeGreaterThan(0)
    expect((await openKeyFile(folder.path)).keys.size).toBe(made.length)
    expect(await readdir(dirname(folder.path))).toEqual(['keys.json'])
  })

  const BROKEN: readonly (readonly [string, string])[] = [
    ['no JSON', 'cs_canary'],
    ['a list', '[]'],
    ['another version', '{"version":2,"keys":[]}'],
    ['a scope that does not exist', buildFileText({ scopes: ['submit', '*'] })],
    ['no scope', buildFileText({ scopes: [] })],
    ['a wrong digest', buildFileText({ secretSha256: 'canary' })],
    ['a date in place of a timestamp', buildFileText({ expiresAt: '2030-01-01' })],
    ['a wrong id', buildFileText({ id: 'canary_1' })],
    ['one id twice', JSON.stringify({ version: 1, keys: [buildKey({}), buildKey({})] })],
    ['too many keys', JSON.stringify({ version: 1, keys: Array(1_001).fill(buildKey({})) })],
  ]
  for (const [what, text] of BROKEN) {
    it(`The keys file is refused with ${what}, and the message quotes nothing of it`, async () => {
      await using folder = await makeKeyFolder()
      await writeFile(folder.path, text, { mode: 0o600 })
      expect(await readRefusal(openKeyFile(folder.path))).not.toContain('canary')
    })
  }

  it('The keys file is refused when it is not there, and when it is a folder', async () => {
    await using folder = await makeKeyFolder()
    expect(await readRefusal(openKeyFile(folder.path))).toContain('cannot be read')
    await readRefusal(openKeyFile(dirname(folder.path)))
  })
})

function buildKey(parts: object): object {
  const secretSha256 = 'a'.repeat(64)
  return {
    id: 'a'.repeat(12),
    name: 'x',
    secretSha256,
    scopes: ['read'],
    createdAt: 1,
    expiresAt: null,
    ...parts,
  }
}

function buildFileText(parts: object): string {
  return JSON.stringify({ version: 1, keys: [buildKey(parts)] })
}
