import { createHash, randomUUID } from 'node:crypto'
import { access, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
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
 * Returns the folder that holds the result of `build` for just these sources, made now or before: a compiler takes
 * seconds only to find that nothing is to be done. The result may be moved.
 */
export async function keptBuild(
  { sources, files, keptIn }: KeptBuild,
  build: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(keptIn, await hashFiles(sources, files ?? (await filesUnder(sources))))
  if (await exists(folder)) return folder
  // Moved into place when it is whole: another run may build at the same time, or this one be cut off.
  const made = `${folder}.${randomUUID()}`
  try {
    await mkdir(keptIn, { recursive: true })
    await build(made)
    await moveUnlessThere(made, folder)
  } finally {
    // A process that a step has started may still be writing.
    await rm(made, { recursive: true, force: true, maxRetries: 5 })
  }
  return folder
}

async function moveUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error: unknown) {
    if (!(await exists(to))) throw error
  }
}

async function filesUnder(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries.flatMap((each) => (each.isFile() ? [relative(root, join(each.parentPath, each.name))] : []))
}

async function hashFiles(root: string, files: readonly string[]): Promise<string> {
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
