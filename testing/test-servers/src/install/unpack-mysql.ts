import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProgramRun } from '../processes/run-program.ts'
import type { Machine } from './machine.ts'

const OUTPUT_LINES_SHOWN = 5

/** Downloads MySQL and its libraries into `folder` and unpacks them to `folder/root`. Returns the reason if it could not. */
export async function unpackMysql(
  folder: string,
  source: string,
  machine: Machine,
): Promise<string | undefined> {
  const options = await aptFolder(join(folder, 'apt'), source)
  for (const step of [
    ['update'],
    ['install', '-y', '--no-install-recommends', '--download-only', 'mysql-server-core'],
  ]) {
    const apt = await machine.run('apt-get', ['-q', ...options, ...step])
    if (apt.code !== 0) return toFailure(`apt-get ${step[0]}`, apt)
  }
  return await unpackAll(join(folder, 'apt', 'cache', 'archives'), join(folder, 'root'), machine)
}

/** Makes the folder of an apt that does not know the system's packages, so that it fetches every library, also the C library. */
async function aptFolder(folder: string, source: string): Promise<readonly string[]> {
  await mkdir(join(folder, 'state', 'lists', 'partial'), { recursive: true })
  await mkdir(join(folder, 'cache', 'archives', 'partial'), { recursive: true })
  await writeFile(join(folder, 'status'), '')
  await writeFile(join(folder, 'sources.list'), `${source}\n`)
  return [
    `Dir::State=${join(folder, 'state')}`,
    `Dir::State::status=${join(folder, 'status')}`,
    `Dir::Cache=${join(folder, 'cache')}`,
    `Dir::Etc::sourcelist=${join(folder, 'sources.list')}`,
    'Dir::Etc::sourceparts=-',
    // The user that apt takes for downloads may not write to this folder.
    'APT::Sandbox::User=',
  ].flatMap((option) => ['-o', option])
}

async function unpackAll(debs: string, root: string, machine: Machine): Promise<string | undefined> {
  await mkdir(root)
  const tar = join(debs, 'files.tar')
  for (const name of await readdir(debs)) {
    if (!name.endsWith('.deb')) continue
    const files = await machine.run('sh', [
      '-c',
      'dpkg-deb --fsys-tarfile "$1" >"$2"',
      'sh',
      join(debs, name),
      tar,
    ])
    if (files.code !== 0) return toFailure(`dpkg-deb of ${name}`, files)
    const unpacked = await machine.run('tar', [
      'xf',
      tar,
      '--keep-directory-symlink',
      '--exclude=./usr/share/doc',
      '--exclude=./usr/share/man',
      '-C',
      root,
    ])
    if (unpacked.code !== 0) return toFailure(`tar of ${name}`, unpacked)
  }
  await rm(tar, { force: true })
  return undefined
}

function toFailure(what: string, { code, output }: ProgramRun): string {
  const end = output.trim().split('\n').slice(-OUTPUT_LINES_SHOWN).join(' ')
  return `${what} failed with exit code ${code}: ${end}`
}
