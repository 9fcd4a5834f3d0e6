import { homedir } from 'node:os'
import { join } from 'node:path'

/** Finds the user's folder for files that all checkouts share. It may not exist yet. */
export function findCacheFolder(name: string): string {
  const { XDG_CACHE_HOME = '' } = process.env
  return join(XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME, 'counterstep', name)
}
