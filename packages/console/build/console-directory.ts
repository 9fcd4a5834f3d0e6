import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CONSOLE_FOLDER } from './console-folder.ts'
import { hashSources } from './hash-sources.ts'

const SITES = join(CONSOLE_FOLDER, 'dist/site')
/** A build is a second of work. A machine that takes longer than this has another trouble. */
const BUILD_MS_MAX = 120_000
/** Another server may still serve an older build, so it is kept for a while. */
const OLD_BUILD_MS_MIN = 60 * 60 * 1_000

let building: Promise<string> | undefined

/**
 * Returns the folder with index.html and its assets, the large ones as a `.gz`. In a clone it builds them
 * if the sources have changed since the last build. A published package carries one build.
 */
export function consoleDirectory(): Promise<string> {
  building ??= findOrBuild().catch((error: unknown) => {
    building = undefined
    throw error
  })
  return building
}

async function findOrBuild(): Promise<string> {
  const name = hashSources()
  if (name === undefined) return findPublished()
  const folder = join(SITES, name)
  if (existsSync(join(folder, 'index.html'))) return folder
  const unfinished = join(SITES, `.${name}-${process.pid}`)
  mkdirSync(SITES, { recursive: true })
  const program = join(import.meta.dirname, 'build-console.ts')
  await promisify(execFile)(process.execPath, [program, unfinished], { timeout: BUILD_MS_MAX })
  putInPlace(unfinished, folder)
  removeOldBuilds(name)
  return folder
}

function findPublished(): string {
  const name = existsSync(SITES) ? readdirSync(SITES).find((each) => !each.startsWith('.')) : undefined
  if (name === undefined) throw new Error(`The console's files are not in ${SITES}`)
  return join(SITES, name)
}

/** Two processes may build at once. The first one's files stay, since they are the same. */
function putInPlace(unfinished: string, folder: string): void {
  try {
    renameSync(unfinished, folder)
  } catch (error: unknown) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(join(folder, 'index.html'))) throw error
  }
}

function removeOldBuilds(current: string): void {
  for (const name of readdirSync(SITES)) {
    const folder = join(SITES, name)
    const isOld = Date.now() - statSync(folder).mtimeMs > OLD_BUILD_MS_MIN
    if (name !== current && isOld) rmSync(folder, { recursive: true, force: true })
  }
}
