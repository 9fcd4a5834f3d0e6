import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findCacheFolder } from '../../test/cache-folder.ts'

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt')
/** The template is checked for these regions. The first has every service, and the second is in Europe. */
const REGIONS = ['us-east-1', 'eu-central-1']

const PROBE_TIMEOUT_MS = 30_000
/** The first run on a machine downloads cfn-lint. */
export const INSTALL_TIMEOUT_MS = 300_000
export const LINT_TIMEOUT_MS = 120_000

/** Says why cfn-lint cannot be installed on this machine. Returns undefined if it can. */
export function findMissingPython(): string | undefined {
  const probe = run('python3', ['-c', 'import venv, ensurepip'], PROBE_TIMEOUT_MS)
  if (probe.status === 0) return undefined
  return `no python3 with venv: ${probe.error?.message ?? probe.stderr.trim().split('\n').at(-1)}`
}

/** Installs cfn-lint into a Python environment of its own, unless it is there. Returns the Python that runs it. */
export function installCfnLint(): string {
  const version = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12)
  const kept = findCacheFolder('cfn-lint')
  const folder = join(kept, version)
  if (!existsSync(folder)) {
    // The folder is moved into place when it is complete, since another run may install at the same time, or this one may
    // be stopped.
    const made = join(kept, `${version}.${randomUUID()}`)
    mkdirSync(kept, { recursive: true })
    expectDone(run('python3', ['-m', 'venv', made], INSTALL_TIMEOUT_MS))
    expectDone(
      run(
        join(made, 'bin', 'python'),
        ['-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS],
        INSTALL_TIMEOUT_MS,
      ),
    )
    moveUnlessThere(made, folder)
  }
  return join(folder, 'bin', 'python')
}

export interface LintMatch {
  readonly Filename: string
  readonly Rule: { readonly Id: string }
  readonly Message: string
}

/**
 * Returns the faults that cfn-lint finds in the templates. It checks all of them in one run, since its start takes longest.
 */
export function lint(python: string, templatePaths: readonly string[]): readonly LintMatch[] {
  const main = 'import sys; from cfnlint.runner import main; sys.exit(main())'
  const end = run(
    python,
    ['-c', main, '--format', 'json', '--regions', ...REGIONS, '-t', ...templatePaths],
    LINT_TIMEOUT_MS,
  )
  // The bits of the exit code mean: 2 errors, 4 warnings, 8 hints. Any other bit is a failure of cfn-lint itself.
  if (end.status === null || (end.status & ~0b1110) !== 0) expectDone(end)
  return JSON.parse(end.stdout) as LintMatch[]
}

function moveUnlessThere(made: string, folder: string): void {
  try {
    renameSync(made, folder)
  } catch (error: unknown) {
    if (!existsSync(folder)) throw error
    rmSync(made, { recursive: true })
  }
}

function run(command: string, args: readonly string[], timeoutMs: number): SpawnSyncReturns<string> {
  return spawnSync(command, args, { encoding: 'utf8', timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 })
}

function expectDone({ status, stdout, stderr, error }: SpawnSyncReturns<string>): void {
  if (status !== 0) throw new Error(`exit code ${status}: ${error?.message ?? ''}\n${stdout}${stderr}`)
}
