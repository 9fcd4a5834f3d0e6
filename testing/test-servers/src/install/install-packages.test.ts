import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findMariadb } from '../servers/mariadb.ts'
import { findPostgres } from '../servers/postgres.ts'
import { findRedis } from '../servers/redis.ts'
import type { Machine } from './machine.ts'

const FAILED = { code: 100, output: 'E: Failed to fetch mariadb.deb\n404 Not Found' }
const DONE = { code: 0, output: '' }

/** Makes a machine on which nothing is found, and whose apt-get answers as the test wants. Each command is added to `asked`. */
function machine(more: Partial<Machine>, asked: string[] = [], installs: readonly object[] = []): Machine {
  const answers = [...installs]
  return {
    isRoot: true,
    mayInstall: true,
    release: { ID: 'debian' },
    aptSources: [],
    debianKeys: undefined,
    tell: () => undefined,
    async run(command, args, variables) {
      const words = args.filter((arg) => !arg.startsWith('-') && !arg.includes('::'))
      asked.push([command, ...words, variables?.DEBIAN_FRONTEND].join(' '))
      return args.includes('install') ? { ...DONE, ...answers.shift() } : DONE
    },
    ...more,
  }
}

/** Puts the files like a package would, in a folder of its version. */
async function putPostgres(folder: string): Promise<void> {
  await mkdir(join(folder, '17'))
  const programs = { postgres: 'echo "postgres (PostgreSQL) 17.4 (Debian 17.4-1)"', initdb: 'exit 1' }
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(folder, '17', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  }
}

describe('a server that is not there', () => {
  it('A server that is missing is installed by apt-get, after an update, without questions', async () => {
    const asked: string[] = []
    await expect(findMariadb([], machine({}, asked))).rejects.toThrow('its package is installed')
    expect(asked).toEqual(['apt-get update noninteractive', 'apt-get install mariadb-server noninteractive'])
  })

  it('A server is found where its package put it, in a folder that was not there before', async () => {
    const asked: string[] = []
    const finding = findPostgres(() => [], machine({}, asked))
    await expect(finding).rejects.toThrow('no PostgreSQL here: its package is installed, and yet')
    expect(asked).toEqual(['apt-get update noninteractive', 'apt-get install postgresql noninteractive'])

    const folder = await mkdtemp(join(tmpdir(), 'counterstep-install-'))
    const installing = machine({
      async run(_command, args) {
        if (args.includes('install')) await putPostgres(folder)
        return DONE
      },
    })
    const found = await findPostgres(() => readdirSync(folder).map((name) => join(folder, name)), installing)
    expect(found).toEqual({
      command: join(folder, '17', 'postgres'),
      initdb: join(folder, '17', 'initdb'),
      version: '17.4',
    })
    await rm(folder, { recursive: true })
  })

  it('A PostgreSQL is passed over when the program that fills its data folder is not beside it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'counterstep-install-'))
    await putPostgres(folder)
    await rm(join(folder, '17', 'initdb'))
    const finding = findPostgres(() => [join(folder, '17')], machine({ isRoot: false }))
    await expect(finding).rejects.toThrow(/only root can install it.*or set TEST_POSTGRES_URL/)
    await rm(folder, { recursive: true })
  })

  it('An installation is tried once more when an archive is missing, and only once', async () => {
    const asked: string[] = []
    await expect(findRedis([], machine({}, asked, [FAILED, FAILED]))).rejects.toThrow(
      'no Redis here: apt-get install redis-server failed: E: Failed to fetch mariadb.deb 404 Not Found.',
    )
    expect(asked.filter((line) => line.includes('install'))).toHaveLength(2)
    const second: string[] = []
    await expect(findRedis([], machine({}, second, [FAILED, DONE]))).rejects.toThrow('is installed')
    expect(second.filter((line) => line.includes('update'))).toHaveLength(2)
  })

  for (const [why, more, reason] of [
    ['only root may install', { isRoot: false }, 'only root can install it'],
    ['its user has not allowed it', { mayInstall: false }, 'nothing is installed unless you allow it'],
    ['the system is another one', { release: { ID: 'fedora' } }, 'only on Debian and Ubuntu'],
    ['the system is unknown', { release: {} }, 'only on Debian and Ubuntu'],
  ] as const) {
    it(`A server is not installed when ${why}, and the reason says what to do`, async () => {
      const asked: string[] = []
      const finding = findMariadb([], machine(more, asked))
      await expect(finding).rejects.toThrow(reason)
      await expect(finding).rejects.toThrow(/Install one .*mariadb-server.* or set TEST_MYSQL_URL/)
      await expect(finding).rejects.toMatchObject({ name: 'ServerMissingError', isExcused: false })
      expect(asked).toEqual([])
    })
  }
})
