import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Holds what was downloaded and built for the images of all checkouts. */
export function keptFolder(): string {
  const kept = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'counterstep', 'images')
  mkdirSync(kept, { recursive: true })
  return kept
}
