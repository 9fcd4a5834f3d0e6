import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from '../harness/paths.ts'
import { copySqliteRow } from './copy-sqlite-row.ts'
import type { StoreHost } from './store-host.ts'

/** Files in the run's folder, which goes with them. */
export function sqliteHost(folder: string): StoreHost {
  let files = 0
  return {
    software: { version: driverVersion(), settings: { journal_mode: 'wal', synchronous: 'full' } },
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

/** The store takes better-sqlite3 where it is installed, and Node's own SQLite elsewhere. */
function driverVersion(): string {
  const path = join(REPOSITORY, 'node_modules', 'better-sqlite3', 'package.json')
  if (!existsSync(path)) return `${process.versions.sqlite} (node:sqlite)`
  const manifest: { readonly version: string } = JSON.parse(readFileSync(path, 'utf8'))
  return `better-sqlite3 ${manifest.version}`
}
