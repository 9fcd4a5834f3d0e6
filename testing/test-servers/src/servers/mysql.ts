import { readEnvironment } from '../environment.ts'
import { ServerMissingError } from '../errors.ts'
import { findBinaries } from '../install/find-binaries.ts'
import { mysqlNine } from '../install/mysql-nine.ts'
import { runProgram } from '../processes/run-program.ts'
import { progress } from '../progress.ts'
import { readIdentity, type SqlProgram } from './sql-program.ts'
import { type SqlServer, type SqlServerOptions, startSqlServer } from './sql-server.ts'

const WANTED_MAJOR = 9
const OLDEST_MAJOR = 8

/** Starts a real MySQL: the machine's if it is version 9 or later, or one that is downloaded once. */
export async function startMysql(options: SqlServerOptions = {}): Promise<SqlServer> {
  return await startSqlServer(await findMysql(), options)
}

/** Finds or downloads a MySQL. Throws ServerMissingError with the reason if there is none. */
export async function findMysql(): Promise<SqlProgram> {
  const { searchPath, cacheFolder } = readEnvironment()
  const found = await findNewest(searchPath)
  if (found !== undefined && readMajor(found) >= WANTED_MAJOR) return found
  try {
    return await mysqlNine(cacheFolder)
  } catch (error: unknown) {
    if (found === undefined || !(error instanceof ServerMissingError)) throw error
    progress(`MySQL ${found.version} of this machine is used: ${error.message}`)
    return found
  }
}

/** Finds the newest MySQL of the machine. */
async function findNewest(folders: readonly string[]): Promise<SqlProgram | undefined> {
  const found: SqlProgram[] = []
  for (const command of await findBinaries(['mysqld'], folders)) {
    const runnable = { command, prefix: [], options: [] }
    const identity = await readIdentity(runnable, runProgram)
    if (identity?.flavor === 'mysql') found.push({ ...runnable, flavor: 'mysql', version: identity.version })
  }
  return found
    .filter((program) => readMajor(program) >= OLDEST_MAJOR)
    .sort((a, b) => readMajor(b) - readMajor(a))[0]
}

function readMajor({ version }: SqlProgram): number {
  return Number.parseInt(version, 10)
}
