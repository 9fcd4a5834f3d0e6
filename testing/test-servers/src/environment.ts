import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

export interface Environment {
  readonly mysqlUrl: string | undefined
  readonly redisUrl: string | undefined
  readonly postgresUrl: string | undefined
  /** Missing programs may be installed by the system's package manager, or downloaded. */
  readonly mayInstall: boolean
  /** A missing server fails the run instead of skipping its tests. */
  readonly isCi: boolean
  readonly searchPath: readonly string[]
  /** It holds MySQL 9 and initialised data folders, which are costly to make again. */
  readonly cacheFolder: string
  /** The file to run in the place of the source of `counterstep`. */
  readonly counterstepProgram: string | undefined
}

/** Servers are often in folders that are not in the PATH of a plain user. */
const MORE_FOLDERS = [
  '/usr/sbin',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/libexec',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/mariadb/bin',
  '/opt/homebrew/opt/mysql/bin',
]

/** Reads the environment. Nothing else in this package does. */
export function readEnvironment(): Environment {
  const { CI, PATH, TEST_COUNTERSTEP_PROGRAM, TEST_INSTALL, XDG_CACHE_HOME } = process.env
  const { TEST_MYSQL_URL, TEST_POSTGRES_URL, TEST_REDIS_URL } = process.env
  const mayInstall = TEST_INSTALL === 'yes'
  const folders = given(PATH)?.split(delimiter) ?? []
  return {
    mysqlUrl: given(TEST_MYSQL_URL),
    redisUrl: given(TEST_REDIS_URL),
    postgresUrl: given(TEST_POSTGRES_URL),
    mayInstall,
    isCi: CI === 'true' && mayInstall,
    searchPath: [...new Set([...folders.filter((folder) => folder !== ''), ...MORE_FOLDERS])],
    cacheFolder: join(given(XDG_CACHE_HOME) ?? join(homedir(), '.cache'), 'counterstep'),
    counterstepProgram: given(TEST_COUNTERSTEP_PROGRAM),
  }
}

/** Adds variables for a child that needs more than this process has. */
export function variablesWith(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...more }
}

function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
