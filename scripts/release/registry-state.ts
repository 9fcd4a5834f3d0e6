import { runNpm } from './run-npm.ts'

/** `unknown`: the registry could not be asked. */
export type RegistryState = 'new' | 'published' | 'unknown'

/** A release does not wait long for a registry that is not there. */
const REGISTRY_MS_MAX = 10_000

/** Whether the registry has this version of a package already. */
export function registryState(name: string, version: string): RegistryState {
  const bounds = ['--fetch-retries=0', `--fetch-timeout=${REGISTRY_MS_MAX}`]
  const { status, stdout } = runNpm(['view', `${name}@${version}`, 'version', '--json', ...bounds])
  const answer: unknown = stdout.trim() === '' ? undefined : JSON.parse(stdout)
  if (status === 0) return answer === undefined ? 'new' : 'published'
  return readCode(answer) === 'E404' ? 'new' : 'unknown'
}

function readCode(answer: unknown): string | undefined {
  return (answer as { readonly error?: { readonly code?: string } } | undefined)?.error?.code
}
