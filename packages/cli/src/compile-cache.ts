import { mkdirSync, statSync } from 'node:fs'
import { constants, enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const OTHERS_WRITE = 0o022

/**
 * Keeps what V8 has made of the modules, so that the next start need not compile them. Node runs what it finds there, so
 * the folder is below the home folder of this very user, and not in a shared one such as /tmp. Without such a home, where others
 * may write on the way to the folder, or where nothing can be written, each start compiles. Returns whether it is kept.
 */
export function keepCompiled(): boolean {
  const folder = ownFolder()
  if (folder === undefined) return false
  const { status } = enableCompileCache(folder)
  const { compileCacheStatus } = constants
  return status === compileCacheStatus.ENABLED || status === compileCacheStatus.ALREADY_ENABLED
}

function ownFolder(): string | undefined {
  try {
    const home = homedir()
    const cache = join(home, '.cache')
    const folder = join(cache, 'counterstep')
    const isThere = statSync(home).isDirectory()
    if (!isThere || ![home, cache, folder].every(isThisUsersAlone)) return undefined
    // Whatever the umask: else the next start might find a folder that a group may write.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  } catch {
    // A container's user may have no home, or one that is not there or that nothing may be written to.
    return undefined
  }
}

/** One that is not there yet will be made by this user. */
function isThisUsersAlone(path: string): boolean {
  // Windows has no such number and no such rights.
  if (process.platform === 'win32') return true
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined || (stats.uid === process.getuid?.() && (stats.mode & OTHERS_WRITE) === 0)
}
