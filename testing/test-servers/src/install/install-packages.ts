import { exclusively } from '../processes/exclusively.ts'
import type { ProgramRun } from '../processes/run-program.ts'
import { isSystem, type Machine, NOT_ALLOWED } from './machine.ts'

const LOCK_SECONDS_MAX = 300
const OUTPUT_LINES_SHOWN = 5

export type DebianPackage =
  | 'caddy'
  | 'chromium'
  | 'cmake'
  | 'g++'
  | 'make'
  | 'mariadb-server'
  | 'nginx'
  | 'pgbouncer'
  | 'postgresql'
  | 'prometheus'
  | 'python3'
  | 'redis-server'
  | 'sysbench'
  | 'util-linux'
  | 'wrk'
  | 'xz-utils'

/**
 * Installs packages on Debian or Ubuntu as root. Returns the reason if it could not. A package may start services: they
 * belong to the system, use other ports than ours, and are not stopped.
 */
export async function installPackages(
  names: readonly DebianPackage[],
  machine: Machine,
): Promise<string | undefined> {
  if (!isSystem(machine, 'debian') && !isSystem(machine, 'ubuntu')) {
    return 'not found, and only on Debian and Ubuntu can it be installed'
  }
  if (!machine.mayInstall) return `not found, and ${NOT_ALLOWED}`
  if (!machine.isRoot) return 'not found, and only root can install it'
  return await exclusively('installation by apt-get', async () => {
    machine.tell(`installing ${names.join(', ')} by apt-get`)
    const failure = await install(names, machine)
    if (failure === undefined) machine.tell(`installed: ${names.join(', ')}`)
    return failure
  })
}

async function install(names: readonly string[], machine: Machine): Promise<string | undefined> {
  // The installation is tried even if a source cannot be reached, since the package may come from another one.
  await aptGet(machine, ['update'])
  const first = await aptGet(machine, ['install', '-y', '--no-install-recommends', ...names])
  if (first.code === 0) return undefined
  machine.tell(`${names.join(', ')}: once more after apt-get update`)
  await aptGet(machine, ['update'])
  const second = await aptGet(machine, ['install', '-y', '--no-install-recommends', ...names])
  if (second.code === 0) return undefined
  return `apt-get install ${names.join(' ')} failed: ${lastLines(second.output)}`
}

async function aptGet(machine: Machine, args: readonly string[]): Promise<ProgramRun> {
  return await machine.run('apt-get', ['-q', '-o', `DPkg::Lock::Timeout=${LOCK_SECONDS_MAX}`, ...args], {
    DEBIAN_FRONTEND: 'noninteractive',
  })
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-OUTPUT_LINES_SHOWN).join(' ')
}
