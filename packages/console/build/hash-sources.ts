import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONSOLE_FOLDER } from './console-folder.ts'

const SOURCES = [
  'index.html',
  'package.json',
  'public/**/*',
  'src/**/*.{ts,tsx,css}',
  'build/*.ts',
  '../explain/src/**/*.ts',
  '../protocol/src/**/*.ts',
]
const DIGITS = 16

/** Names the content of all that the console is built from. In a published package there are no sources, and no name. */
export function hashSources(): string | undefined {
  if (!existsSync(join(CONSOLE_FOLDER, 'index.html'))) return undefined
  const hash = createHash('sha256')
  const paths = globSync(SOURCES, { cwd: CONSOLE_FOLDER, exclude: ['**/*.test.ts'] }).sort()
  for (const path of paths) {
    const file = join(CONSOLE_FOLDER, path)
    if (!/\.\w+$/.test(path)) continue
    hash.update(`${path}\0`).update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex').slice(0, DIGITS)
}
