import { readEnvironment } from '../environment.ts'
import { ServerMissingError } from '../errors.ts'
import { findBinaries } from '../install/find-binaries.ts'
import { installPackages } from '../install/install-packages.ts'
import { type Machine, thisMachine } from '../install/machine.ts'
import { type RedisServer, type RedisServerOptions, startRedisServer } from './redis-server.ts'

/** Starts the machine's Redis or Valkey. Installs one first if it is missing and that is possible. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  return await startRedisServer(await findRedis(), options)
}

/** Finds or installs a Redis or Valkey. Throws ServerMissingError with the reason if there is none. */
export async function findRedis(
  folders: readonly string[] = readEnvironment().searchPath,
  machine: Machine = thisMachine(),
): Promise<string> {
  const found = await lookForRedis(folders)
  if (found !== undefined) return found
  const failure = await installPackages(['redis-server'], machine)
  const installed = await lookForRedis(folders)
  if (installed !== undefined) return installed
  throw new ServerMissingError(
    `no Redis here: ${failure ?? 'its package is installed, and yet it is not found'}. Install one (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis) or set TEST_REDIS_URL`,
  )
}

async function lookForRedis(folders: readonly string[]): Promise<string | undefined> {
  return (await findBinaries(['redis-server', 'valkey-server'], folders))[0]
}
