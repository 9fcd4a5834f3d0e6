import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Harness } from '../../harness/harness.ts'

const INSTALL_MS_MAX = 180_000

/**
 * Installs packages into a folder of the run, which goes with it: they are no dependencies of this repository. Their scripts
 * do not run. Throws an Error with the reason if npm does not get them.
 */
export async function installPackages(
  { folder }: Harness,
  name: string,
  versions: readonly string[],
): Promise<string> {
  const place = join(folder, name)
  mkdirSync(place)
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n')
  const args = ['install', `--prefix=${place}`, '--ignore-scripts', '--no-audit', '--no-fund', ...versions]
  try {
    await promisify(execFile)('npm', args, { cwd: place, timeout: INSTALL_MS_MAX })
  } catch (error: unknown) {
    const { stderr = '' } = error as { readonly stderr?: string }
    const [first = String(error)] = stderr.split('\n').filter((line) => /^npm error (?!code)/.test(line))
    throw new Error(`npm does not get ${versions.join(' ')}: ${first.replace('npm error ', '')}`, {
      cause: error,
    })
  }
  return place
}

/** Loads a package from such a folder. `Exports` names the part of it that the bench uses. */
export function requireFrom<Exports>(folder: string, name: string): Exports {
  // The version is fixed, so its exports are known.
  return createRequire(join(folder, 'package.json'))(name) as Exports
}
