import { spawn } from 'node:child_process'
import { variablesWith } from '../environment.ts'

export interface ProgramRun {
  readonly code: number
  /** The output of both streams together. */
  readonly output: string
}

export type RunProgram = (
  command: string,
  args: readonly string[],
  more?: Readonly<Record<string, string>>,
) => Promise<ProgramRun>

const RUN_MS_MAX = 600_000
const NOT_FOUND = 127

/** Runs a program to its end, with `more` variables. A program that does not exist ends with the code that a shell would give. */
export const runProgram: RunProgram = (command, args, more = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: variablesWith(more),
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: AbortSignal.timeout(RUN_MS_MAX),
      killSignal: 'SIGKILL',
    })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') resolve({ code: NOT_FOUND, output: `${command} is not on the PATH` })
      else if (error.name !== 'AbortError') reject(error)
      else reject(new Error(`${command} was not done within ${RUN_MS_MAX} ms`, { cause: error }))
    })
    child.once('close', (code) => resolve({ code: code ?? -1, output: Buffer.concat(chunks).toString() }))
  })
