import { homedir } from 'node:os'
import { join } from 'node:path'

/** Of this user, for what all checkouts share. It may not be there yet. */
export function cacheFolder(name: string): string {
  const { XDG_CACHE_HOME = '' } = process.env
  return join(XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME, 'counterstep', name)
}
