import { constants, existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exclusively } from '../processes/exclusively.ts'

/** How an empty data folder of one version of a server is made. */
export interface DataSeed {
  /** The server and its version. */
  readonly name: string
  /** Makes the folder `data` in this one. */
  readonly fill: (folder: string) => Promise<void>
}

/**
 * Copies an initialised, empty data folder of a server to `target`. It is made once per version and kept in the
 * cache: making it takes MySQL seconds, copying it does not.
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
  // It names the server; each copy draws its own.
  await rm(join(target, 'auto.cnf'), { force: true })
}

async function makeSeed(made: DataSeed, seed: string): Promise<void> {
  await mkdir(dirname(seed), { recursive: true })
  // Only under a lock is it known that nobody writes to what a killed run left.
  if (process.platform === 'linux') await removeSiblings(`${seed}.partial-`)
  const folder = await mkdtemp(`${seed}.partial-`)
  try {
    await made.fill(folder)
    await rename(join(folder, 'data'), seed)
  } catch (error: unknown) {
    // Another process may have been first where there is no lock.
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
