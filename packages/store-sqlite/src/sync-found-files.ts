import { existsSync } from 'node:fs'
import { syncPlace } from './sync-place.ts'

/**
 * Flushes the database and its log as an earlier process has left them. If that was killed between a write and its flush, SQLite
 * would take the write for durable. Call it before this process opens the database: to close a file here ends every lock on it.
 */
export function syncFoundFiles(path: string): void {
  // Windows flushes only what may be written.
  for (const file of [path, `${path}-wal`]) if (existsSync(file)) syncPlace(file, 'r+')
}
