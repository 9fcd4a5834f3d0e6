import { readEnvironment } from '../environment.ts'
import { ServerMissingError } from '../errors.ts'
import { findBinaries } from '../install/find-binaries.ts'
import { mysqlNine } from '../install/mysql-nine.ts'
import { runProgram } from '../processes/run-program.ts'
import { progress } from '../progress.ts'
import { identityOf, type SqlProgram } from './sql-program.ts'
import { type SqlServer, type SqlServerOptions, startSqlServer } from './sql-server.ts'

const WANTED_MAJOR = 9
const OLDEST_MAJOR = 8

/** Starts a real MySQL: the machine's if it is a 9 or later, else one of its own that it downloads once. */
export async function startMysql(options: SqlServerOptions = {}): Promise<SqlServer> {
  return await startSqlServer(await findMysql(), options)
}

/** Finds or downloads it; throws ServerMissingError with the reason when there is none. */
export async function findMysql(): Promise<SqlProgram> {
  const { searchPath, cacheFolder } = readEnvironment()
  const found = await lookForMysql(searchPath)
  if (found !== undefined && majorOf(found) >= WANTED_MAJOR) return found
  try {
    return await mysqlNine(cacheFolder)
  } catch (error: unknown) {
    if (found === undefined || !(error instanceof ServerMissingError)) throw error
    progress(`MySQL ${found.version} of this machine is used: ${error.message}`)
    return found
  }
}

/** The newest MySQL of the machine. */
async function lookForMysql(folders: readonly string[]): Promise<SqlProgram | undefined> {
  const found: SqlProgram[] = []
  for (const command of await findBinaries(['mysqld'], folders)) {
    const runnable = { command, prefix: [], options: [] }
    const identity = await identityOf(runnable, runProgram)
    if (identity?.flavor === 'mysql') found.push({ ...runnable, flavor: 'mysql', version: identity.version })
  }
  return found
    .filter((program) => majorOf(program) >= OLDEST_MAJOR)
    .sort((a, b) => majorOf(b) - majorOf(a))[0]
}

function majorOf({ version }: SqlProgram): number {
  return Number.parseInt(version, 10)
}
