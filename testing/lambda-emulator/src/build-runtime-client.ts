import { existsSync } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Machine } from '@counterstep/test-servers'
import { RuntimeClientMissingError } from './errors.ts'

const OUTPUT_LINES_SHOWN = 5
const NPM_OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/**
 * Installs what the lockfile in the folder names, then does the work of the package's install scripts. npm itself runs no
 * scripts here, whatever its settings are, and node-gyp uses the headers beside this Node instead of downloading them.
 */
export async function buildRuntimeClient(folder: string, machine: Machine): Promise<void> {
  const run = createRunner(machine)
  await run('npm', ['ci', '--prefix', folder, ...NPM_OPTIONS])
  const client = join(folder, 'node_modules', 'aws-lambda-ric')
  const artifacts = join(client, 'deps', 'artifacts')
  await run('sh', [join(client, 'scripts', 'preinstall.sh')])
  const gyp = join(folder, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js')
  const native = join(client, 'src', 'native')
  await run(process.execPath, [gyp, 'rebuild', `--directory=${native}`, ...findHeaderOptions()], {
    DEPS_PREFIX: artifacts,
  })
  await copyFile(join(native, 'build', 'Release', 'rapid-client.node'), join(client, 'rapid-client.node'))
  for (const built of [join(client, 'deps'), join(native, 'build')]) await rm(built, { recursive: true })
}

/** Finds the headers where Node's archives and packages have them. Without an option node-gyp would download them. */
function findHeaderOptions(): readonly string[] {
  const nodeFolder = dirname(dirname(process.execPath))
  return existsSync(join(nodeFolder, 'include', 'node', 'node_api.h')) ? [`--nodedir=${nodeFolder}`] : []
}

function createRunner({ run }: Machine) {
  return async (command: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const { code, output } = await run(command, args, more)
    if (code === 0) return
    const end = output.trim().split('\n').slice(-OUTPUT_LINES_SHOWN).join(' ')
    throw new RuntimeClientMissingError(
      `${[command, ...args].join(' ')} failed with exit code ${code}: ${end}`,
      'not excused',
    )
  }
}
