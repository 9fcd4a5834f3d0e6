import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

export interface Environment {
  readonly mysqlUrl: string | undefined
  readonly redisUrl: string | undefined
  readonly postgresUrl: string | undefined
  /** Whether what is missing may be installed by the system's package manager, or downloaded. */
  readonly mayInstall: boolean
  /** Where a missing server fails the run instead of skipping tests. */
  readonly isCi: boolean
  readonly searchPath: readonly string[]
  /** Holds what is costly to make again: MySQL 9 and initialised data folders. */
  readonly cacheFolder: string
  /** What runs where `counterstep` is started. */
  readonly counterstepProgram: string | undefined
}

/** Servers often live where the PATH of a plain user does not look. */
const MORE_FOLDERS = [
  '/usr/sbin',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/libexec',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/mariadb/bin',
  '/opt/homebrew/opt/mysql/bin',
]

/** The one reader of the environment in this package. */
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

/** For a child that needs more variables than this process has. */
export function variablesWith(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...more }
}

function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
