import { mkdirSync } from 'node:fs'
import { cacheFolder } from '../cache-folder.ts'

/** Holds what was downloaded and built for the images of all checkouts. */
export function ensureKeptFolder(): string {
  const kept = cacheFolder('images')
  mkdirSync(kept, { recursive: true })
  return kept
}
