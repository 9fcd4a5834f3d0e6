import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** The name by which the modules of a package ask for the console's folder. */
export const CONSOLE_ASSETS = '@counterstep/console/assets'
/** The module's place in a package, without the ending. The built console is in a folder beside it. */
export const CONSOLE_MODULE = 'assets'
export const CONSOLE_FOLDER = 'dist/console'
const SITE = 'site'

/** In a clone the console is built when it is needed. A package carries it, and this module in place of the builder. */
export const CONSOLE_TEXTS = {
  '.js': [
    "import { join } from 'node:path'",
    '/** Returns the folder of the built console. */',
    'export async function consoleDirectory() {',
    `    return join(import.meta.dirname, '${SITE}')`,
    '}',
    '',
  ].join('\n'),
  '.d.ts': [
    '/** Returns the folder of the built console. */',
    'export declare function consoleDirectory(): Promise<string>',
    '',
  ].join('\n'),
} as const

/** Builds the console into a package that is about to be packed. */
export function buildCarriedConsole(root: string, folder: string): void {
  const program = join(root, 'packages/console/build/build-console.ts')
  const target = join(folder, CONSOLE_FOLDER, SITE)
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [program, target], {
    encoding: 'utf8',
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`the console cannot be built:\n${stdout}${stderr}`)
}
