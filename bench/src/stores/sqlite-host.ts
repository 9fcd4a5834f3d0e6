import { join } from 'node:path'
import { copySqliteRow } from './copy-sqlite-row.ts'
import type { StoreHost } from './store-host.ts'

/** Files in the run's folder, which goes with them. */
export function sqliteHost(folder: string): StoreHost {
  let files = 0
  return {
    software: {
      version: `${process.versions.sqlite} (node:sqlite)`,
      settings: { journal_mode: 'wal', synchronous: 'full' },
    },
    voidsLeasesAtOpen: true,
    newDatabase: async () => {
      files += 1
      const path = join(folder, `bench-${files}.db`)
      return {
        environment: { COUNTERSTEP_STORE: `sqlite:${path}`, COUNTERSTEP_SQLITE_SYNCHRONOUS: 'full' },
        copyFinished: async (copies, onCopied) => copySqliteRow(path, copies, onCopied),
      }
    },
    close: () => Promise.resolve(),
  }
}
