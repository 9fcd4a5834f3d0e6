import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Machine } from './machine.ts'
import { mysqlNine } from './mysql-nine.ts'

let cache = ''
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'counterstep-cache-'))
})
afterEach(() => rm(cache, { recursive: true, force: true }))

const DEBIAN = { ID: 'debian', VERSION_CODENAME: 'bookworm' }
const SOURCE = 'deb https://deb.example.com/debian bookworm main'

/** Makes a Debian whose programs all fail. */
function machine(more: Partial<Machine>): Machine {
  return {
    isRoot: false,
    mayInstall: true,
    release: DEBIAN,
    aptSources: [SOURCE],
    debianKeys: '/keys.gpg',
    tell: () => undefined,
    run: async () => ({ code: 100, output: 'E: no route to the archive' }),
    ...more,
  }
}

describe.runIf(process.platform === 'linux')('a MySQL 9 that cannot be had', () => {
  it('A missing MySQL 9 is excused where Debian has none for the machine', async () => {
    const finding = mysqlNine(cache, machine({}), 'riscv64')
    await expect(finding).rejects.toMatchObject({ name: 'ServerMissingError', isExcused: true })
    await expect(finding).rejects.toThrow('riscv64')
  })

  it('A missing MySQL 9 is excused on another system, which is named as the reason', async () => {
    for (const release of [{ ID: 'fedora' }, { ID: 'ubuntu', ID_LIKE: 'debian' }, {}]) {
      const finding = mysqlNine(cache, machine({ release }), 'x64')
      await expect(finding).rejects.toMatchObject({ isExcused: true })
      await expect(finding).rejects.toThrow('no MySQL 9 here: only on Debian can it be had by apt')
    }
  })

  it('A missing MySQL 9 is excused where apt has no source of Debian', async () => {
    const finding = mysqlNine(
      cache,
      machine({ aptSources: ['deb https://example.com/apt other main'] }),
      'x64',
    )
    await expect(finding).rejects.toMatchObject({ isExcused: true })
    await expect(finding).rejects.toThrow('no source of Debian')
  })

  it('A missing MySQL 9 is not excused when a download fails, and nothing half done stays', async () => {
    const finding = mysqlNine(cache, machine({}), 'x64')
    await expect(finding).rejects.toMatchObject({ name: 'ServerMissingError', isExcused: false })
    await expect(finding).rejects.toThrow('apt-get update failed with exit code 100: E: no route')
    expect(await readdir(cache)).toEqual([])
  })
})
