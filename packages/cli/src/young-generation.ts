const FLAG = '--max-semi-space-size'
/** V8's own bound is 64. Measured against it, this one is as fast and saves 130 MB of memory. */
const SEMI_SPACE_MIB = 16
/** The size begins at its bound: growing from 1 MiB while the modules load costs 30 of the 500 ms CPU time of a start. */
const FLAGS = [`${FLAG}=${SEMI_SPACE_MIB}`, `--min-semi-space-size=${SEMI_SPACE_MIB}`]

/**
 * Replaces this process, under the same pid, by one that has a bound on V8's young generation, since V8 reads the bound
 * only at the start of a process. A bound that the user has set stays. The process is not replaced on Windows, which
 * cannot do it, or if its parent has an IPC channel, which would be lost. It then needs more memory.
 */
export function boundYoungGeneration(process: NodeJS.Process): void {
  const { execArgv, execPath, argv, env } = process
  if (process.execve === undefined || process.channel !== undefined || process.platform === 'win32') return
  const args = addBound(execArgv, env.NODE_OPTIONS ?? '')
  if (args !== undefined) process.execve(execPath, [execPath, ...args, ...argv.slice(1)], env)
}

/** Adds the bound to Node's own arguments. Returns undefined if they, or the options of the environment, have one. */
export function addBound(execArgv: readonly string[], nodeOptions: string): string[] | undefined {
  const isSet = [...execArgv, ...nodeOptions.split(/\s+/)].some((arg) =>
    arg.replaceAll('_', '-').startsWith(FLAG),
  )
  return isSet ? undefined : [...FLAGS, ...execArgv]
}
