import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Holds what was downloaded and built for the images of all checkouts. */
export function ensureKeptFolder(): string {
  const { XDG_CACHE_HOME = '' } = process.env
  const kept = join(
    XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME,
    'counterstep',
    'images',
  )
  mkdirSync(kept, { recursive: true })
  return kept
}
