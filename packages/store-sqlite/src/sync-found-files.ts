import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs'

/**
 * Flushes the database and its log as an earlier process has left them. If that was killed between a write and its flush, SQLite
 * would take the write for durable. Call it before this process opens the database: to close a file here ends every lock on it.
 */
export function syncFoundFiles(path: string): void {
  for (const file of [path, `${path}-wal`]) {
    if (!existsSync(file)) continue
    // Windows flushes only what may be written.
    const handle = openSync(file, 'r+')
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  }
}
