import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findCacheFolder } from './cache-folder.ts'

const PROBE_TIMEOUT_MS = 30_000
/** The first run on a machine downloads the tool. */
export const INSTALL_TIMEOUT_MS = 300_000

/** Says why no tool in Python can be installed on this machine. Returns undefined if one can. */
export function findMissingPython(): string | undefined {
  const probe = runTool('python3', ['-c', 'import venv, ensurepip'], PROBE_TIMEOUT_MS)
  if (probe.status === 0) return undefined
  return `no python3 with venv: ${probe.error?.message ?? probe.stderr.trim().split('\n').at(-1)}`
}

/** Installs a tool into a Python environment of its own, unless it is there. Returns the Python that runs it. */
export function installPythonTool(name: string, requirements: string): string {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
  const kept = findCacheFolder(name)
  const folder = join(kept, version)
  if (!existsSync(folder)) {
    // The folder is moved into place when it is complete, since another run may install at the same time, or this one may
    // be stopped.
    const made = join(kept, `${version}.${randomUUID()}`)
    mkdirSync(kept, { recursive: true })
    expectDone(runTool('python3', ['-m', 'venv', made], INSTALL_TIMEOUT_MS))
    const pip = ['-m', 'pip', 'install', '--quiet', '-r', requirements]
    expectDone(runTool(join(made, 'bin', 'python'), pip, INSTALL_TIMEOUT_MS))
    moveUnlessThere(made, folder)
  }
  return join(folder, 'bin', 'python')
}

export function runTool(
  command: string,
  args: readonly string[],
  timeoutMs: number,
): SpawnSyncReturns<string> {
  return spawnSync(command, args, { encoding: 'utf8', timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 })
}

export function expectDone({ status, stdout, stderr, error }: SpawnSyncReturns<string>): void {
  if (status !== 0) throw new Error(`exit code ${status}: ${error?.message ?? ''}\n${stdout}${stderr}`)
}

function moveUnlessThere(made: string, folder: string): void {
  try {
    renameSync(made, folder)
  } catch (error: unknown) {
    if (!existsSync(folder)) throw error
    rmSync(made, { recursive: true })
  }
}
