import { execFile } from 'node:child_process'

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly timeoutMs?: number
}

/** Runs a program to its end and returns how it ended. Rejects only if there is no such program, or it took too long. */
export function runCommand(file: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = process.env, cwd, timeoutMs = 600_000 } = options
  return new Promise((resolve, reject) => {
    const limits = { maxBuffer: OUTPUT_BYTES_MAX, timeout: timeoutMs, killSignal: 'SIGKILL' } as const
    execFile(file, [...args], { ...limits, env, cwd }, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr })
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr })
      else reject(error)
    })
  })
}

/** Returns the command's standard output. If its exit code is not 0, it throws with the end of the output. */
export async function readOutput(
  file: string,
  args: readonly string[],
  options?: RunOptions,
): Promise<string> {
  const { code, stdout, stderr } = await runCommand(file, args, options)
  if (code === 0) return stdout
  const end = `${stdout}${stderr}`.trim().split('\n').slice(-15).join('\n')
  throw new Error(`${file} ${args.slice(0, 3).join(' ')} ended with ${code}:\n${end}`)
}
