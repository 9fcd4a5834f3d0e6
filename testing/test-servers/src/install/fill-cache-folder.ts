import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { exclusively } from '../processes/exclusively.ts'

/**
 * Makes a folder of the cache unless it is there. `fill` gets a new folder beside it, and returns what is then moved to its
 * place: that folder, or one in it. So the folder is there as a whole or not at all.
 */
export async function fillCacheFolder(
  folder: string,
  fill: (partial: string) => Promise<string>,
): Promise<void> {
  if (existsSync(folder)) return
  await exclusively(`filling of ${folder}`, async () => {
    if (!existsSync(folder)) await fillInPart(folder, fill)
  })
}

async function fillInPart(folder: string, fill: (partial: string) => Promise<string>): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  // Only under a lock, which Linux has, does no other process write to what a killed run has left.
  if (process.platform === 'linux') await removeSiblings(`${folder}.partial-`)
  const partial = await mkdtemp(`${folder}.partial-`)
  try {
    await rename(await fill(partial), folder)
  } catch (error: unknown) {
    // Without a lock another process may have been first.
    if (!existsSync(folder)) throw error
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

async function removeSiblings(prefix: string): Promise<void> {
  const folder = dirname(prefix)
  for (const name of await readdir(folder)) {
    if (name.startsWith(basename(prefix))) await rm(join(folder, name), { recursive: true, force: true })
  }
}
