import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text as readText } from 'node:stream/consumers'
import type { Gid } from '@counterstep/protocol'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../src/node-driver.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction } from './transactions.ts'

const folder = await temporaryFolder()
const WRITER = join(import.meta.dirname, 'writer-process.ts')
const KILLS = 5
const LINES_BEFORE_KILL = 300
const watch = new SecretWatch()

afterAll(() => watch.assertNone())

/** The writer copies its folder to `copyTo` after its first acknowledgements, if this is given. */
function startWriter(path: string, round: number, callers: number, copyTo = ''): ChildProcess {
  const writer = spawn(process.execPath, [WRITER, path, String(round), String(callers), copyTo], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  watch.follow(writer, 'the writer')
  writer.stderr.pipe(process.stderr, { end: false })
  return writer
}

/** Reads the writer's lines until it ends. The callback `onLine` may end it. */
async function readLines(
  writer: ChildProcess,
  onLine: (count: number, line: string) => void,
): Promise<readonly string[]> {
  const lines: string[] = []
  if (writer.stdout === null) throw new Error('the writer has no output')
  for await (const line of createInterface(writer.stdout)) {
    lines.push(line)
    onLine(lines.length, line)
  }
  return lines
}

describe('one process per file', () => {
  it('A second process on one file is refused by name, while the first goes on', async () => {
    const path = join(folder, 'shared.db')
    const store = await openSqliteStore({ path })
    const [line] = await readLines(startWriter(path, 0, 1), () => undefined)
    expect(line).toMatch(/^refused SAGA_STORE_IN_USE /)
    expect(line).toContain(path)
    expect(line).toContain(String(process.pid))
    expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
    await store.close()
  })

  it('S43: A second process that knows the file by a symbolic link is refused', async () => {
    const path = join(folder, 'linked.db')
    const store = await openSqliteStore({ path })
    symlinkSync(path, join(folder, 'link.db'))
    const [line] = await readLines(startWriter(join(folder, 'link.db'), 0, 1), () => undefined)
    expect(line).toMatch(/^refused SAGA_STORE_IN_USE /)
    await store.close()
  })

  it('S43: A file with two names is refused, and so is a link to a file that does not exist', async () => {
    const path = join(folder, 'two-names.db')
    await (await openSqliteStore({ path })).close()
    linkSync(path, join(folder, 'other-name.db'))
    symlinkSync(join(folder, 'nowhere.db'), join(folder, 'dangling.db'))
    for (const name of ['two-names.db', 'other-name.db', 'dangling.db']) {
      await expect(openSqliteStore({ path: join(folder, name) })).rejects.toMatchObject({
        code: 'SAGA_STORE_UNAVAILABLE',
        message: expect.stringMatching(/names \(hard links\)|is a link to a file that is not there/),
      })
    }
  })

  it('A second opener in the same process is refused', async () => {
    const path = join(folder, 'twice.db')
    const store = await openSqliteStore({ path })
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'SAGA_STORE_IN_USE' })
    await store.close()
    await (await openSqliteStore({ path })).close()
  })
})

describe('a lock file that is removed while the store is open', () => {
  it('S43: A lock file that was removed is held again within a second or so, so that a second process is refused', async () => {
    const path = join(folder, 'removed.db')
    const store = await openSqliteStore({ path })
    rmSync(`${path}-lock`)
    await vi.waitFor(() => expect(existsSync(`${path}-lock`)).toBe(true), 10_000)
    const [line] = await readLines(startWriter(path, 0, 1), () => undefined)
    expect(line).toMatch(/^refused SAGA_STORE_IN_USE /)
    expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
    await store.close()
  })

  it('S43: The store ends where another process holds the file that stands in place of its lock file', async () => {
    const path = join(folder, 'replaced.db')
    const onBroken = vi.fn()
    const store = await openSqliteStore({ path, onBroken })
    const other = openDatabase(`${path}-other`)
    other.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    renameSync(`${path}-other`, `${path}-lock`)
    await vi.waitFor(() => expect(onBroken).toHaveBeenCalledOnce(), 10_000)
    await expect(store.create(aTransaction('a'))).rejects.toMatchObject({ applied: 'unknown' })
    await store.close()
    other.close()
  })
})

describe('a database that is removed while the store is open', () => {
  it.each([
    ['the database is removed', (path: string) => rmSync(path), 'was removed'],
    ['its log is removed', (path: string) => rmSync(`${path}-wal`), 'was removed'],
    ['another file stands in its place', replaceFile, 'was replaced'],
    ['its log is cut', (path: string) => truncateSync(`${path}-wal`, 0), 'was cut'],
  ])('S43: The store ends within a second or so where %s', async (_, harm, words) => {
    const path = join(folder, 'harmed.db')
    const onBroken = vi.fn()
    const store = await openSqliteStore({ path, onBroken })
    await store.create(aTransaction('a'))
    harm(path)
    await vi.waitFor(() => expect(onBroken).toHaveBeenCalledOnce(), 10_000)
    expect(String(onBroken.mock.calls[0]?.[0])).toContain(words)
    await expect(store.create(aTransaction('b'))).rejects.toMatchObject({ applied: 'unknown' })
    await store.close()
    for (const place of readdirSync(folder)) rmSync(join(folder, place))
  })

  function replaceFile(path: string): void {
    writeFileSync(`${path}-copy`, '')
    renameSync(`${path}-copy`, path)
  }
})

// Only Linux shows a process its locks. On Windows the locks do not end so.
describe.skipIf(process.platform !== 'linux')('locks that end because the process has copied a file', () => {
  it.each(['', '-shm', '-lock'])(
    'S43: The store acknowledges nothing after this process has copied the database%s',
    async (suffix) => {
      const path = join(folder, `copied${suffix}.db`)
      const onBroken = vi.fn()
      const store = await openSqliteStore({ path, onBroken })
      await store.create(aTransaction('a'))
      copyFileSync(path + suffix, `${path}-copy`)
      await expect(store.create(aTransaction('b'))).rejects.toMatchObject({ applied: 'unknown' })
      expect(String(onBroken.mock.calls[0]?.[0])).toContain(`the lock on ${path}${suffix} has ended`)
      await store.close()
      const next = await openSqliteStore({ path })
      expect(await next.readMany(['a' as Gid])).toMatchObject([{ gid: 'a' }])
      await next.close()
    },
  )

  it('S43: A store that is idle ends within a second or so after this process has copied its folder', async () => {
    const path = join(makeFolderIn('idle'), 'a.db')
    const onBroken = vi.fn()
    const store = await openSqliteStore({ path, onBroken })
    cpSync(dirname(path), join(folder, 'idle-copy'), { recursive: true })
    await vi.waitFor(() => expect(onBroken).toHaveBeenCalledOnce(), 10_000)
    await store.close()
  })

  it('S43: A second process is refused while a process has the store open that lost its locks by a copy', async () => {
    const path = join(makeFolderIn('second'), 'a.db')
    const store = await openSqliteStore({ path })
    cpSync(dirname(path), join(folder, 'second-copy'), { recursive: true })
    const [line] = await readLines(startWriter(path, 0, 1), () => undefined)
    expect(line).toMatch(/^refused SAGA_STORE_IN_USE /)
    expect(line).toContain(String(process.pid))
    await store.close()
    await (await openSqliteStore({ path })).close()
  })

  it('S43: A backup by another process after such a copy loses nothing that was acknowledged', async () => {
    const path = join(makeFolderIn('backup'), 'a.db')
    const writer = startWriter(path, 0, 4, join(folder, 'backup-copy'))
    let backups: Promise<unknown> | undefined
    const lines = await readLines(writer, (_, line) => {
      if (line !== 'copied') return
      backups = Promise.allSettled([backUp(path, 'b1.db'), backUp(path, 'b2.db')]).finally(() =>
        writer.kill('SIGKILL'),
      )
    })
    expect(await backups).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }])
    expect(lines).toContain('copied')
    expect(lines.at(-1)).toContain(' has ended')
    const created = lines.flatMap((line) =>
      line.startsWith('created ') ? [line.slice('created '.length)] : [],
    )
    const store = await openSqliteStore({ path })
    const found = await Promise.all(chunks(created).map((gids) => store.readMany(gids as Gid[])))
    expect(found.flat().length).toBe(created.length)
    await store.close()
  })

  /** Runs the documented backup in a process of its own, and expects that it succeeds. */
  async function backUp(path: string, name: string): Promise<void> {
    const open = `new (require('node:sqlite').DatabaseSync)(process.argv[1], { timeout: 5000 })`
    const args = ['-e', `${open}.prepare('VACUUM INTO ?').run(process.argv[2])`, path, join(folder, name)]
    const backup = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    const [errors] = await Promise.all([readText(backup.stderr), once(backup, 'exit')])
    expect(errors).not.toContain('Error')
  }

  function makeFolderIn(name: string): string {
    const place = join(folder, name)
    mkdirSync(place, { mode: 0o700 })
    return place
  }
})

describe('SIGKILL', () => {
  it('A SIGKILL loses nothing that was acknowledged, and leaves no lock', { timeout: 60_000 }, async () => {
    const path = join(folder, 'killed.db')
    for (let round = 0; round < KILLS; round++) {
      const writer = startWriter(path, round, 16)
      const ended = once(writer, 'exit')
      const lines = await readLines(writer, (count) => count === LINES_BEFORE_KILL && writer.kill('SIGKILL'))
      await ended
      expect(lines[0]).toBe('opened')
      expect(lines.length).toBeGreaterThanOrEqual(LINES_BEFORE_KILL)
      const store = await openSqliteStore({ path })
      const statuses = new Map<string, string>()
      for (const gids of chunks(lines.slice(1).flatMap((line) => line.split(' ')[1] ?? []))) {
        for (const row of await store.readMany(gids as Gid[])) statuses.set(row.gid, row.status)
      }
      for (const line of lines.slice(1)) {
        const [what, gid = ''] = line.split(' ')
        if (what === 'finished') expect(statuses.get(gid)).toBe('succeeded')
        else expect(statuses.has(gid)).toBe(true)
      }
      expect((await store.stats()).oldestDueAt ?? 0).toBeLessThanOrEqual(Date.now())
      await store.close()
    }
  })
})

function chunks(gids: readonly string[]): readonly (readonly string[])[] {
  const size = 500
  return Array.from({ length: Math.ceil(gids.length / size) }, (_, i) => gids.slice(i * size, (i + 1) * size))
}
