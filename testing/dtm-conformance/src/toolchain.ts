import { fileURLToPath } from 'node:url'
import { runCommand } from './run-command.ts'

const PROBE_TIMEOUT_MS = 60_000

/** The first build downloads what the client needs. */
const BUILD_TIMEOUT_MS = 900_000

export class BuildFailedError extends Error {
  override readonly name = 'BuildFailedError'
}

/** Why a command does not work here, or undefined. */
export async function missingCommand(command: string, args: readonly string[]): Promise<string | undefined> {
  const { exitCode, errors } = await runCommand(command, args, { timeoutMs: PROBE_TIMEOUT_MS })
  if (exitCode === 0) return undefined
  const lastLine = errors.trim().split('\n').at(-1) ?? ''
  return `\`${[command, ...args].join(' ')}\` does not work: ${lastLine}`
}

/** One step of a build, in the folder of that program's sources. */
export async function buildStep(language: string, command: string, args: readonly string[]): Promise<void> {
  const folder = findSources(language)
  const { exitCode, output, errors } = await runCommand(command, args, {
    folder,
    timeoutMs: BUILD_TIMEOUT_MS,
  })
  if (exitCode !== 0) throw new BuildFailedError(`${command} ${args.join(' ')}:\n${output}${errors}`)
}

export function findSources(language: string): string {
  return fileURLToPath(new URL(`../${language}`, import.meta.url))
}
