import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvironment } from '../environment.ts'
import { ServerMissingError } from '../errors.ts'
import { findBinaries } from '../install/find-binaries.ts'
import { installPackages } from '../install/install-packages.ts'
import { type Machine, thisMachine } from '../install/machine.ts'
import { type PostgresProgram, readPostgresProgram } from './postgres-program.ts'
import { type PostgresServer, type PostgresServerOptions, startPostgresServer } from './postgres-server.ts'
import { findUnprivilegedUser } from './server-user.ts'

/** Debian and others have a folder for each major version, which is not in the PATH. */
const VERSIONED = [
  { parent: '/usr/lib/postgresql', name: /^\d+$/ },
  { parent: '/usr', name: /^pgsql-\d+$/ },
  { parent: '/opt/homebrew/opt', name: /^postgresql(@\d+)?$/ },
  { parent: '/usr/local/opt', name: /^postgresql(@\d+)?$/ },
]

/** Starts the machine's PostgreSQL. Installs one first if it is missing and that is possible. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  return await startPostgresServer(await findPostgres(), options)
}

/** Finds or installs a PostgreSQL. Throws ServerMissingError with the reason if there is none. */
export async function findPostgres(
  listFolders: () => readonly string[] = listPostgresFolders,
  machine: Machine = thisMachine(),
): Promise<PostgresProgram> {
  const found = await lookForPostgres(listFolders())
  if (found !== undefined) return found
  const failure = await installPackages(['postgresql'], machine)
  const installed = await lookForPostgres(listFolders())
  if (installed !== undefined) return installed
  throw new ServerMissingError(
    `no PostgreSQL here: ${failure ?? 'its package is installed, and yet it is not found'}. Install one (Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql) or set TEST_POSTGRES_URL`,
  )
}

/** Lists the PATH first, then the versioned folders, the newest first. */
function listPostgresFolders(): readonly string[] {
  return [...readEnvironment().searchPath, ...VERSIONED.flatMap(versionedFolders)]
}

function versionedFolders({ parent, name }: (typeof VERSIONED)[number]): readonly string[] {
  if (!existsSync(parent)) return []
  return readdirSync(parent)
    .filter((folder) => name.test(folder))
    .sort((one, other) => readMajor(other) - readMajor(one))
    .map((folder) => join(parent, folder, 'bin'))
}

function readMajor(folder: string): number {
  return Number(/\d+$/.exec(folder)?.[0] ?? 0)
}

async function lookForPostgres(folders: readonly string[]): Promise<PostgresProgram | undefined> {
  for (const command of await findBinaries(['postgres'], folders)) {
    const program = await readPostgresProgram(command)
    if (program === undefined) continue
    // This check comes before the start, since a test is skipped with the reason that it throws.
    findUnprivilegedUser()
    return program
  }
  return undefined
}
