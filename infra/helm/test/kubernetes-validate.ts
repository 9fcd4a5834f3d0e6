import { join } from 'node:path'
import { installPythonTool, runTool } from '../../test/python-tool.ts'

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt')
export const VALIDATE_TIMEOUT_MS = 60_000

/** Installs kubernetes-validate, which brings the schemas of Kubernetes with it. Returns the Python that runs it. */
export function installKubernetesValidate(): string {
  return installPythonTool('kubernetes-validate', REQUIREMENTS)
}

/** Holds files against the schemas of one version. Returns the faults, of which an unknown field is one. */
export function findSchemaFaults(
  python: string,
  version: string,
  paths: readonly string[],
): readonly string[] {
  const args = ['-m', 'kubernetes_validate', '--strict', '--kubernetes-version', version, ...paths]
  const { stdout, stderr, status } = runTool(python, args, VALIDATE_TIMEOUT_MS)
  const lines = `${stdout}${stderr}`.trim().split('\n')
  const faults = lines.filter((line) => !line.startsWith('INFO ') && !line.includes('kind ServiceMonitor'))
  if (status !== 0 && faults.length === 0) throw new Error(`kubernetes-validate: ${lines.join('\n')}`)
  return faults
}
