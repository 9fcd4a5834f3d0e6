import { createHash } from 'node:crypto'
import { access, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

const HASH_CHARACTERS = 12

export interface KeptBuild {
  /** A folder. */
  readonly sources: string
  /** Those of its files that the build depends on. Default: all. */
  readonly files?: readonly string[]
  /** A folder that has one for each state of these files. */
  readonly keptIn: string
}

/**
 * The folder that holds what `build` made of just these sources, now or before: a compiler takes seconds only to find
 * that nothing is to be done.
 */
export async function keptBuild(
  { sources, files, keptIn }: KeptBuild,
  build: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(keptIn, await hashOf(sources, files ?? (await filesUnder(sources))))
  const done = join(folder, 'built')
  if (await exists(done)) return folder
  await rm(folder, { recursive: true, force: true })
  await build(folder)
  // Written last, so that a build that was cut off is begun anew.
  await writeFile(done, '')
  return folder
}

async function filesUnder(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries.flatMap((each) => (each.isFile() ? [relative(root, join(each.parentPath, each.name))] : []))
}

async function hashOf(root: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files.toSorted()) {
    const content = createHash('sha256').update(await readFile(join(root, file)))
    hash.update(`${file}\n${content.digest('hex')}\n`)
  }
  return hash.digest('hex').slice(0, HASH_CHARACTERS)
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}
