import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Returns the path of the tarball. */
export function runNpmPack(folder: string, into: string): string {
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', into]
  // npm is a .cmd file on Windows, which only a shell can start.
  const shell = process.platform === 'win32'
  const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', shell })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`npm pack failed:\n${stderr}`)
  const [packed]: readonly { readonly filename: string }[] = JSON.parse(stdout)
  if (packed === undefined) throw new Error(`npm pack named no file: ${stdout}`)
  return join(into, packed.filename)
}
