import { constants } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fillCacheFolder } from '../install/fill-cache-folder.ts'

/** Makes the empty data folder of one version of a server. */
export interface DataSeed {
  /** The name of the server and its version. */
  readonly name: string
  /** Makes the folder `data` in this one. */
  readonly fill: (folder: string) => Promise<void>
}

/**
 * Copies an initialised, empty data folder of a server to `target`. The folder is made once for each version and kept in the
 * cache, because MySQL takes seconds to make it, and a copy does not.
 */
export async function copyDataSeed(made: DataSeed, cacheFolder: string, target: string): Promise<void> {
  const name = `${made.name}-${process.arch}`.replaceAll(/[^\w.-]/g, '_')
  const seed = join(cacheFolder, 'data', name)
  await fillCacheFolder(seed, async (partial) => {
    await made.fill(partial)
    return join(partial, 'data')
  })
  await cp(seed, target, { recursive: true, mode: constants.COPYFILE_FICLONE })
  // This file identifies the server, and each copy makes its own.
  await rm(join(target, 'auto.cnf'), { force: true })
}
