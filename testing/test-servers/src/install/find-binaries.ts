import { constants } from 'node:fs'
import { access, realpath } from 'node:fs/promises'
import { join } from 'node:path'

/** Finds the programs of these names in these folders, each once, in the order of the names. */
export async function findBinaries(
  names: readonly string[],
  folders: readonly string[],
): Promise<readonly string[]> {
  const found = new Map<string, string>()
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name)
      if (!(await isExecutable(path))) continue
      const real = await realpath(path)
      if (!found.has(real)) found.set(real, path)
    }
  }
  return [...found.values()]
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch (error: unknown) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
