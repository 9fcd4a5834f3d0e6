import { chmod, open, rm, symlink, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createKey, KeyRing, revokeKey, type Scope } from '../src/index.ts'
import { openKeyFile } from '../src/open-key-file.ts'
import { makeKeyFolder } from './key-folder.ts'

const ASKED = { name: 'ci', scopes: ['read'] as readonly Scope[], createdAt: 1_000, expiresAt: null }

async function openRing(path: string, readFile?: Parameters<typeof KeyRing.open>[2]) {
  const broken: unknown[] = []
  const read: number[] = []
  const events = {
    onRead: (keys: number) => void read.push(keys),
    onBroken: (error: unknown) => void broken.push(error),
  }
  const ring = await KeyRing.open(path, events, readFile)
  return { ring, broken, read, [Symbol.dispose]: () => ring.close() }
}

describe('S11: the keys in force', () => {
  it('The key ring follows the keys file: a new key is known, and a revoked one is not', async () => {
    await using folder = await makeKeyFolder()
    const first = await createKey(folder.path, ASKED)
    using opened = await openRing(folder.path)
    const second = await createKey(folder.path, ASKED)
    await revokeKey(folder.path, first.stored.id)
    await opened.ring.refresh()
    expect(opened.ring.find(first.stored.id)).toBeUndefined()
    expect(opened.ring.find(second.stored.id)).toEqual(second.stored)
    expect(opened.read).toEqual([1])
  })

  it('The key ring follows the keys file though its first look at it failed', async () => {
    await using folder = await makeKeyFolder()
    const { stored } = await createKey(folder.path, ASKED)
    let hasDescriptors = true
    using opened = await openRing(folder.path, async (path) => {
      if (!hasDescriptors) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
      return openKeyFile(path)
    })
    await revokeKey(folder.path, stored.id)
    hasDescriptors = false
    await opened.ring.refresh()
    expect(opened.ring.find(stored.id)).toEqual(stored)
    hasDescriptors = true
    await opened.ring.refresh()
    expect(opened.ring.find(stored.id)).toBeUndefined()
    expect(opened.broken).toHaveLength(1)
  })

  it.runIf(process.platform === 'linux')(
    'No key is taken any more once the file was replaced where the server cannot see it',
    async () => {
      await using folder = await makeKeyFolder()
      const { stored } = await createKey(folder.path, ASKED)
      // This path leads to the one file for ever, as a file that is mounted into a container does.
      await using handle = await open(folder.path, 'r')
      using opened = await openRing(`/proc/self/fd/${handle.fd}`)
      await opened.ring.refresh()
      expect(opened.ring.find(stored.id)).toEqual(stored)
      await revokeKey(folder.path, stored.id)
      await opened.ring.refresh()
      await opened.ring.refresh()
      expect(opened.ring.find(stored.id)).toBeUndefined()
      expect(opened.broken).toMatchObject([{ code: 'SAGA_KEYS_UNUSABLE' }])
    },
  )

  it.runIf(process.platform === 'linux')('A file that was replaced so is not opened again', async () => {
    await using folder = await makeKeyFolder()
    const { stored } = await createKey(folder.path, ASKED)
    await using handle = await open(folder.path, 'r')
    await revokeKey(folder.path, stored.id)
    await expect(openRing(`/proc/self/fd/${handle.fd}`)).rejects.toMatchObject({ code: 'SAGA_KEYS_UNUSABLE' })
  })

  it('The first change by a link that leads nowhere makes the file behind it', async () => {
    await using folder = await makeKeyFolder()
    const link = `${folder.path}.link`
    await symlink(folder.path, link)
    const { stored } = await createKey(link, ASKED)
    using opened = await openRing(folder.path)
    expect(opened.ring.find(stored.id)).toEqual(stored)
  })

  it('A change of the file by a link leaves the link, so that servers see it by either name', async () => {
    await using folder = await makeKeyFolder()
    const { stored } = await createKey(folder.path, ASKED)
    const link = `${folder.path}.link`
    await symlink(folder.path, link)
    using opened = await openRing(folder.path)
    await revokeKey(link, stored.id)
    await opened.ring.refresh()
    expect(opened.ring.find(stored.id)).toBeUndefined()
  })

  it('The keys file is not read again while it is the same', async () => {
    await using folder = await makeKeyFolder()
    await createKey(folder.path, ASKED)
    using opened = await openRing(folder.path)
    await opened.ring.refresh()
    await opened.ring.refresh()
    expect(opened.read).toEqual([])
  })

  it('The key ring looks at the keys file by itself, within a second or so', async () => {
    await using folder = await makeKeyFolder()
    const { stored } = await createKey(folder.path, ASKED)
    const rings: KeyRing[] = []
    const keys = await new Promise<number>((resolve, reject) => {
      KeyRing.open(folder.path, { onRead: resolve, onBroken: reject })
        .then((ring) => {
          rings.push(ring)
          return revokeKey(folder.path, stored.id)
        })
        .catch(reject)
    })
    expect(keys).toBe(0)
    for (const ring of rings) ring.close()
  })

  const BREAKS: readonly (readonly [string, (path: string) => Promise<void>])[] = [
    ['is broken', (path) => writeFile(path, '{"version":1,"keys":[')],
    ['is gone', (path) => rm(path)],
    ...(process.platform === 'win32'
      ? []
      : [['is open to others', (path: string) => chmod(path, 0o644)] as const]),
  ]
  for (const [what, breakIt] of BREAKS) {
    it(`The keys stay as they are when the keys file ${what}, which is reported once`, async () => {
      await using folder = await makeKeyFolder()
      const { stored } = await createKey(folder.path, ASKED)
      using opened = await openRing(folder.path)
      await breakIt(folder.path)
      await opened.ring.refresh()
      await opened.ring.refresh()
      expect(opened.ring.find(stored.id)).toEqual(stored)
      expect(opened.broken).toEqual([expect.objectContaining({ code: 'SAGA_KEYS_UNUSABLE' })])
    })
  }
})
