import { homedir } from 'node:os'
import { join } from 'node:path'

/** The user's own folder for things that all checkouts share. It may not be there yet. */
export function cacheFolder(name: string): string {
  const { XDG_CACHE_HOME = '' } = process.env
  return join(XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME, 'counterstep', name)
}
