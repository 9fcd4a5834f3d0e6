import { readEnvironment } from '../environment.ts'
import { ServerMissingError } from '../errors.ts'
import { findBinaries } from '../install/find-binaries.ts'
import { installPackages } from '../install/install-packages.ts'
import { type Machine, thisMachine } from '../install/machine.ts'
import { runProgram } from '../processes/run-program.ts'
import { readIdentity, type SqlProgram } from './sql-program.ts'
import { type SqlServer, type SqlServerOptions, startSqlServer } from './sql-server.ts'

/** Starts the machine's MariaDB. Installs one first if it is missing and that is possible. */
export async function startMariadb(options: SqlServerOptions = {}): Promise<SqlServer> {
  return await startSqlServer(await findMariadb(), options)
}

/** Finds or installs a MariaDB. Throws ServerMissingError with the reason if there is none. */
export async function findMariadb(
  folders: readonly string[] = readEnvironment().searchPath,
  machine: Machine = thisMachine(),
): Promise<SqlProgram> {
  const found = await lookForMariadb(folders)
  if (found !== undefined) return found
  const failure = await installPackages(['mariadb-server'], machine)
  const installed = await lookForMariadb(folders)
  if (installed !== undefined) return installed
  throw new ServerMissingError(
    `no MariaDB here: ${failure ?? 'its package is installed, and yet it is not found'}. Install one (Debian, Ubuntu: apt-get install mariadb-server; macOS: brew install mariadb) or set TEST_MYSQL_URL`,
  )
}

async function lookForMariadb(folders: readonly string[]): Promise<SqlProgram | undefined> {
  const installers = await findBinaries(['mariadb-install-db', 'mysql_install_db'], folders)
  const installer = installers[0]
  if (installer === undefined) return undefined
  for (const command of await findBinaries(['mariadbd', 'mysqld'], folders)) {
    const runnable = { command, prefix: [], options: [] }
    const identity = await readIdentity(runnable, runProgram)
    if (identity?.flavor === 'mariadb')
      return { ...runnable, installer, flavor: 'mariadb', version: identity.version }
  }
  return undefined
}
