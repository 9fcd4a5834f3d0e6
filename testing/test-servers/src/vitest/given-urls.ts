import type { Environment } from '../environment.ts'
import { mysqlVersion, readFlavor } from '../proxy/mysql-greeting.ts'
import type { ServerKind } from './offers.ts'

const MYSQL_PORT = 3306

/** Reads the servers that the environment names, by kind. Rejects if one does not answer, since it was named on purpose. */
export async function givenUrls({
  mysqlUrl,
  postgresUrl,
  redisUrl,
}: Environment): Promise<Readonly<Partial<Record<ServerKind, string>>>> {
  return {
    ...(redisUrl === undefined ? {} : { redis: redisUrl }),
    ...(postgresUrl === undefined ? {} : { postgres: postgresUrl }),
    ...(mysqlUrl === undefined ? {} : { [await flavorAt(mysqlUrl)]: mysqlUrl }),
  }
}

async function flavorAt(url: string): Promise<'mariadb' | 'mysql'> {
  const { hostname, port } = new URL(url)
  const address = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || MYSQL_PORT }
  try {
    return readFlavor(await mysqlVersion(address))
  } catch (error: unknown) {
    throw new Error(`TEST_MYSQL_URL names ${hostname}:${address.port}, where no MySQL or MariaDB answers`, {
      cause: error,
    })
  }
}
