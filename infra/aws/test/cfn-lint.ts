import { join } from 'node:path'
import { expectDone, installPythonTool, runTool } from '../../test/python-tool.ts'

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt')
/** The template is checked for these regions. The first has every service, and the second is in Europe. */
const REGIONS = ['us-east-1', 'eu-central-1']

export const LINT_TIMEOUT_MS = 120_000

/** Installs cfn-lint, unless it is there. Returns the Python that runs it. */
export function installCfnLint(): string {
  return installPythonTool('cfn-lint', REQUIREMENTS)
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
  const end = runTool(
    python,
    ['-c', main, '--format', 'json', '--regions', ...REGIONS, '-t', ...templatePaths],
    LINT_TIMEOUT_MS,
  )
  // The bits of the exit code mean: 2 errors, 4 warnings, 8 hints. Any other bit is a failure of cfn-lint itself.
  if (end.status === null || (end.status & ~0b1110) !== 0) expectDone(end)
  return JSON.parse(end.stdout) as LintMatch[]
}
