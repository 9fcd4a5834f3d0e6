import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** Cannot be bundled: it loads a binary. Its others, for other systems, and its C sources would be 25 MB. */
export const SQLITE = 'better-sqlite3'
const NEEDED = ['package.json', 'LICENSE', 'lib']

/** Puts the driver with its binary for Debian, of the processor that builds, into a program's node_modules. */
export function copySqlite(root: string, folder: string): void {
  const from = join(root, 'node_modules', SQLITE)
  const into = join(folder, 'node_modules', SQLITE)
  mkdirSync(join(into, 'prebuilds'), { recursive: true })
  for (const name of [...NEEDED, `prebuilds/linux-${process.arch}.node`]) {
    cpSync(join(from, name), join(into, name), { recursive: true })
  }
}
