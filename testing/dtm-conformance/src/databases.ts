import { startMariadb, startRedis } from '@counterstep/test-servers'
import type { Settings } from './settings.ts'

/** The databases in which the programs keep their accounts, barrier rows and stocks. */
export interface Databases {
  readonly mysqlUrl: string
  readonly redisUrl: string
  readonly stop: () => Promise<void>
}

/** Starts what the settings do not name. */
export async function openDatabases({ mysqlUrl, redisUrl }: Settings): Promise<Databases> {
  const mysql = mysqlUrl === undefined ? await startMariadb() : undefined
  const redis = redisUrl === undefined ? await startRedis() : undefined
  return {
    mysqlUrl: mysqlUrl ?? mysql?.url ?? '',
    redisUrl: redisUrl ?? redis?.url ?? '',
    stop: async () => {
      await Promise.all([mysql?.stop(), redis?.stop()])
    },
  }
}
