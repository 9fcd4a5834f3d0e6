import { constants, existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exclusively } from '../processes/exclusively.ts'

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
  if (!existsSync(seed)) {
    await exclusively(`data folder of ${name}`, async () => {
      if (!existsSync(seed)) await makeSeed(made, seed)
    })
  }
  await cp(seed, target, { recursive: true, mode: constants.COPYFILE_FICLONE })
  // This file identifies the server, and each copy makes its own.
  await rm(join(target, 'auto.cnf'), { force: true })
}

async function makeSeed(made: DataSeed, seed: string): Promise<void> {
  await mkdir(dirname(seed), { recursive: true })
  // Only under a lock, which Linux has, does no other process write to what a killed run has left.
  if (process.platform === 'linux') await removeSiblings(`${seed}.partial-`)
  const folder = await mkdtemp(`${seed}.partial-`)
  try {
    await made.fill(folder)
    await rename(join(folder, 'data'), seed)
  } catch (error: unknown) {
    // Without a lock another process may have been first.
    if (!existsSync(seed)) throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function removeSiblings(prefix: string): Promise<void> {
  const folder = dirname(prefix)
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if (path.startsWith(prefix)) await rm(path, { recursive: true, force: true })
  }
}
