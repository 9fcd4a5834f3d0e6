import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { exclusively, readEnvironment } from '@counterstep/test-servers'

const FILES = ['package.json', 'package-lock.json']
const KEY_LENGTH = 12
// The package brings its binaries; npm would compile them anew, since it installs from a lockfile.
const NPM_OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']

/**
 * Installs drivers that users bring and the project does not have, by the lockfile of this folder, once into the
 * user's cache. Returns the folder whose node_modules holds them.
 */
export async function installUserDrivers(): Promise<string> {
  const hash = createHash('sha256')
  for (const name of FILES) hash.update(readFileSync(join(import.meta.dirname, name)))
  const key = hash.digest('hex').slice(0, KEY_LENGTH)
  const folder = join(readEnvironment().cacheFolder, `user-drivers-${key}`)
  await exclusively(`installation of ${folder}`, async () => {
    if (!existsSync(folder)) await installInto(folder)
  })
  return folder
}

/** A run that was cut short leaves its folder under another name, which the next one removes. */
async function installInto(folder: string): Promise<void> {
  const partial = `${folder}.partial`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true })
  for (const name of FILES) await cp(join(import.meta.dirname, name), join(partial, name))
  const shell = process.platform === 'win32'
  await promisify(execFile)('npm', ['ci', ...NPM_OPTIONS], { cwd: partial, shell })
  await rename(partial, folder)
}
