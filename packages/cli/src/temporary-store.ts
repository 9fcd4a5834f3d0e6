import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServeConfig } from './config.ts'

export interface TemporaryStore {
  readonly config: ServeConfig
  /** Removes all that was kept. Call it when the store is closed. */
  remove(): void
}

/** Puts the store into a new folder that only this user can read. */
export function makeTemporaryStore(config: ServeConfig): TemporaryStore {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-dev-'))
  const path = join(folder, 'counterstep.db')
  const store = { ...config.store, path, place: path } as ServeConfig['store']
  return {
    config: { ...config, store },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}
