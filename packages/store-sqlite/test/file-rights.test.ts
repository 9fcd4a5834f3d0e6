import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { StoreEvent } from '@counterstep/core'
import { describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction } from './transactions.ts'

const folder = await temporaryFolder()
const readMode = (path: string) => (statSync(path).mode & 0o777).toString(8)

async function openAndTell(path: string): Promise<readonly StoreEvent[]> {
  const events: StoreEvent[] = []
  const store = await openSqliteStore({ path, onEvent: (event) => events.push(event) })
  await store.close()
  return events
}

/** Opens the store as a user without any right of root: as this user, or as another one if this user is root. */
function openAsPlainUser(path: string): string {
  const store = new URL('../src/open-sqlite-store.ts', import.meta.url).href
  const program = `
    const { openSqliteStore } = await import(${JSON.stringify(store)})
    await openSqliteStore({ path: ${JSON.stringify(path)} }).catch(({ message }) => console.log(message))
    process.exit()`
  const file = join(folder, 'open-as-plain-user.mjs')
  writeFileSync(file, program)
  const { stdout, stderr } = runNode(file)
  return stdout + stderr
}

/** This is the id of a user without rights. */
const PLAIN_USER = 65_534

function runNode(argument: string) {
  const identity = process.getuid?.() === 0 ? { uid: PLAIN_USER } : {}
  return spawnSync(process.execPath, [argument], { ...identity, encoding: 'utf8' })
}

describe.skipIf(process.platform === 'win32')("the rights of a store's files", () => {
  it('The owner alone may use the folders and all files that the store makes, whatever the umask', async () => {
    const before = process.umask(0)
    try {
      const home = join(folder, 'made', 'deep')
      const events: StoreEvent[] = []
      const store = await openSqliteStore({
        path: join(home, 'a.db'),
        onEvent: (event) => events.push(event),
      })
      await store.create(aTransaction('a'))
      await store.list({ limit: 1 })
      expect(readMode(join(folder, 'made'))).toBe('700')
      expect(readMode(home)).toBe('700')
      const files = readdirSync(home).sort()
      expect(files).toEqual(['a.db', 'a.db-lock', 'a.db-pid', 'a.db-shm', 'a.db-wal'])
      for (const file of files) expect(readMode(join(home, file)), file).toBe('600')
      expect(events).toEqual([])
      await store.close()
    } finally {
      process.umask(before)
    }
  })

  it.each([
    ['a.db', 0o644, 'chmod 600'],
    ['a.db-pid', 0o644, 'chmod 600'],
    ['a.db', 0o660, 'may write'],
    ['', 0o2770, 'may write'],
    ['', 0o770, 'chmod 700'],
  ])('A warning about "%s" says what to do where its mode is %o', async (file, mode, words) => {
    const home = join(folder, `warned-${file}-${mode}`)
    await openAndTell(join(home, 'a.db'))
    chmodSync(join(home, file), mode)
    const events = await openAndTell(join(home, 'a.db'))
    expect(events).toMatchObject([{ level: 'warn', name: 'store-open-to-others' }])
    expect(events[0]?.detail).toContain(words)
    expect(events[0]?.detail).toContain(join(home, file))
  })

  it.each([
    ['a.db', 0o666],
    ['a.db-wal', 0o622],
    ['', 0o777],
  ])('The store does not open where every user may write "%s": %o', async (file, mode) => {
    const home = join(folder, `refused-${file}-${mode}`)
    mkdirSync(home, { mode: 0o700 })
    if (file !== '') writeFileSync(join(home, file), '')
    chmodSync(join(home, file), mode)
    await expectUnavailable(openSqliteStore({ path: join(home, 'a.db') }), 'no')
    await expect(openSqliteStore({ path: join(home, 'a.db') })).rejects.toThrow(`chmod`)
    // The store has made no file.
    expect(readdirSync(home)).toEqual(file === '' ? [] : [file])
  })

  it.each(['-pid', '-lock', '-wal', '-shm'])(
    'S43: A link in place of a file of the store is refused: a.db%s',
    async (suffix) => {
      const home = join(folder, `linked${suffix}`)
      mkdirSync(home, { mode: 0o700 })
      const elsewhere = join(home, 'elsewhere')
      const link = join(home, `a.db${suffix}`)
      symlinkSync(elsewhere, link)
      await expect(openSqliteStore({ path: join(home, 'a.db') })).rejects.toThrow(`${link} is a link`)
      writeFileSync(elsewhere, 'kept', { mode: 0o600 })
      await expect(openSqliteStore({ path: join(home, 'a.db') })).rejects.toThrow(`${link} is a link`)
      expect(readFileSync(elsewhere, 'utf8')).toBe('kept')
    },
  )

  it('A folder that others may only read, as mkdir makes it, is not warned of', async () => {
    const home = join(folder, 'ordinary')
    mkdirSync(home)
    chmodSync(home, 0o755)
    expect(await openAndTell(join(home, 'a.db'))).toEqual([])
    expect(await openAndTell(join(home, 'a.db'))).toEqual([])
  })

  it('A sticky folder that every user writes to, such as /tmp, is only warned of', async () => {
    const home = join(folder, 'sticky')
    mkdirSync(home)
    chmodSync(home, 0o1777)
    expect(await openAndTell(join(home, 'a.db'))).toMatchObject([{ name: 'store-open-to-others' }])
  })

  it('A user who may not write or read the folder is refused, and the message says which right is missing and who owns it', (context) => {
    const { error } = runNode('--version')
    context.skip(
      error !== undefined,
      'root alone may use the folder of this checkout, so no other user can run Node',
    )
    chmodSync(folder, 0o755)
    const isRoot = process.getuid?.() === 0
    for (const [name, mode, verb] of [
      ['unwritable', 0o500, 'write'],
      ['unreadable', 0o300, 'read'],
    ] as const) {
      const home = join(folder, name)
      mkdirSync(home)
      if (isRoot) chownSync(home, PLAIN_USER, PLAIN_USER)
      chmodSync(home, mode)
      const owner = statSync(home).uid
      expect(openAsPlainUser(join(home, 'a.db'))).toBe(
        `${join(home, 'a.db')}: user ${owner} may not ${verb} ${home}, of user ${owner} and mode ${mode.toString(8)}\n`,
      )
      chmodSync(home, 0o700)
    }
  })
})
