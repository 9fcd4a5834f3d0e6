import { statSync } from 'node:fs'
import { constants, enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Keeps what V8 has made of the modules, so that the next start need not compile them. Node runs what it finds there, so
 * the folder is below the home folder of this very user, and not in a shared one such as /tmp. Without such a home, or where
 * nothing can be written, each start compiles. Returns whether it is kept.
 */
export function keepCompiled(): boolean {
  const home = ownHome()
  if (home === undefined) return false
  const { status } = enableCompileCache(join(home, '.cache', 'counterstep'))
  const { compileCacheStatus } = constants
  return status === compileCacheStatus.ENABLED || status === compileCacheStatus.ALREADY_ENABLED
}

function ownHome(): string | undefined {
  try {
    const home = homedir()
    // Windows has no such number, and answers 0.
    return statSync(home).uid === (process.getuid?.() ?? 0) ? home : undefined
  } catch {
    // A container's user may have no home, or one that is not there.
    return undefined
  }
}
