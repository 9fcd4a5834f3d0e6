import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ServerMissingError } from '../errors.ts'
import { readIdentity, type SqlProgram } from '../servers/sql-program.ts'
import { findDebianArchive } from './apt-sources.ts'
import { fillCacheFolder } from './fill-cache-folder.ts'
import { isSystem, type Machine, NOT_ALLOWED, thisMachine } from './machine.ts'
import { unpackMysql } from './unpack-mysql.ts'

interface Architecture {
  /** The folder of Debian's libraries for this architecture. */
  readonly libraries: string
  readonly loader: string
}

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { libraries: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { libraries: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
}

/**
 * Finds Debian's MySQL 9 in the cache, or downloads and unpacks it there. It runs from the cache with its own libraries, so
 * the system is not changed and root is not needed.
 */
export async function mysqlNine(
  cacheFolder: string,
  machine: Machine = thisMachine(),
  architecture: string = process.arch,
): Promise<SqlProgram> {
  const place = ARCHITECTURES[architecture]
  if (process.platform !== 'linux' || place === undefined) {
    throw missing(`Debian has none that runs on ${process.platform} ${architecture}`, 'excused')
  }
  const root = join(cacheFolder, 'mysql-9')
  if (!existsSync(root)) {
    if (!machine.mayInstall) throw missing(NOT_ALLOWED, 'excused')
    const source = writeSource(machine)
    await fillCacheFolder(root, (partial) => download(partial, source, machine))
  }
  const runnable = runnableIn(root, place)
  const identity = await readIdentity(runnable, machine.run)
  if (identity === undefined)
    throw missing(`the one in ${root} does not run; delete that folder`, 'not excused')
  return { ...runnable, flavor: 'mysql', version: identity.version }
}

/** Writes the line for apt's list of sources. */
function writeSource(machine: Machine): string {
  if (!isSystem(machine, 'debian') || isSystem(machine, 'ubuntu')) {
    throw missing('only on Debian can it be had by apt', 'excused')
  }
  if (machine.debianKeys === undefined) throw missing("the keys of Debian's archive are not there", 'excused')
  const archive = findDebianArchive(machine.aptSources, machine.release.VERSION_CODENAME ?? '')
  if (archive === undefined) throw missing('apt has no source of Debian', 'excused')
  return `deb [signed-by=${machine.debianKeys}] ${archive} sid main`
}

async function download(folder: string, source: string, machine: Machine): Promise<string> {
  const startedAt = Date.now()
  machine.tell('downloading MySQL 9 from Debian unstable (60 MB, once)')
  const failure = await unpackMysql(folder, source, machine)
  if (failure !== undefined) throw missing(failure, 'not excused')
  machine.tell(`MySQL 9 is unpacked after ${Math.round((Date.now() - startedAt) / 1000)} s`)
  return join(folder, 'root')
}

/** Starts the program by its own loader, so that it does not use the system's libraries, which may be older. */
function runnableIn(root: string, { libraries, loader }: Architecture) {
  const usr = join(root, 'usr')
  const folder = join(usr, 'lib', libraries)
  return {
    command: join(folder, loader),
    prefix: [
      '--library-path',
      `${folder}:${join(usr, 'lib', 'mysql', 'private')}`,
      join(usr, 'sbin', 'mysqld'),
    ],
    options: [
      `--basedir=${usr}`,
      `--lc-messages-dir=${join(usr, 'share', 'mysql')}`,
      `--character-sets-dir=${join(usr, 'share', 'mysql', 'charsets')}`,
      `--plugin-dir=${join(usr, 'lib', 'mysql', 'plugin')}`,
    ],
  }
}

function missing(reason: string, excuse: 'excused' | 'not excused'): ServerMissingError {
  return new ServerMissingError(
    `no MySQL 9 here: ${reason}. Install one or set TEST_MYSQL_URL`,
    excuse === 'excused',
  )
}
