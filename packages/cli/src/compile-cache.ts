import { mkdirSync, statSync } from 'node:fs'
import { constants, enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const OTHERS_WRITE = 0o022

/**
 * Keeps the compiled modules in a folder, so that the next start need not compile them. Node runs the code that it finds
 * there, so the folder is below the home folder of this user, and not in a shared one such as /tmp. Each start compiles
 * anew if there is no home, if other users may write to it or to a folder below it on the way, or if it cannot be
 * written. Returns whether the modules are kept.
 */
export function keepCompiled(): boolean {
  const folder = makeCacheFolder()
  if (folder === undefined) return false
  const { status } = enableCompileCache(folder)
  const { compileCacheStatus } = constants
  return status === compileCacheStatus.ENABLED || status === compileCacheStatus.ALREADY_ENABLED
}

function makeCacheFolder(): string | undefined {
  try {
    const home = homedir()
    const cache = join(home, '.cache')
    const folder = join(cache, 'counterstep')
    const isThere = statSync(home).isDirectory()
    if (!isThere || ![home, cache, folder].every(isWritableByThisUserAlone)) return undefined
    // The mode does not depend on the umask, so the next start does not find a folder that a group may write.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  } catch {
    // A container's user may have no home, or one that does not exist or cannot be written.
    return undefined
  }
}

/** Tells whether no other user may write to the path. A missing one will be made by this user, so it counts as such. */
function isWritableByThisUserAlone(path: string): boolean {
  // Windows has neither this number of a user nor these rights.
  if (process.platform === 'win32') return true
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined || (stats.uid === process.getuid?.() && (stats.mode & OTHERS_WRITE) === 0)
}
