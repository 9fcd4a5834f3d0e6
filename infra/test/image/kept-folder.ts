import { mkdirSync } from 'node:fs'
import { findCacheFolder } from '../cache-folder.ts'

/** Creates the folder of files that were downloaded or built for the images. All checkouts share it. */
export function ensureKeptFolder(): string {
  const kept = findCacheFolder('images')
  mkdirSync(kept, { recursive: true })
  return kept
}
