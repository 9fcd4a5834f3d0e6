import { spawn } from 'node:child_process'

export interface CommandEnd {
  /** Null when the command was killed, or could not be started. */
  readonly exitCode: number | null
  readonly output: string
  readonly errors: string
}

export interface CommandOptions {
  readonly folder?: string
  readonly variables?: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

/** Runs a command to its end. A command that is missing or too slow has no exit code, and its errors say why. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { folder, variables = {}, timeoutMs }: CommandOptions,
): Promise<CommandEnd> {
  return await new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
      killSignal: 'SIGKILL',
      signal,
    })
    const texts = { output: '', errors: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      texts.output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      texts.errors += text
    })
    child.once('error', (error) => {
      const reason = signal.aborted ? `${command} was not done within ${timeoutMs} ms` : error.message
      resolve({ exitCode: null, output: texts.output, errors: `${texts.errors}\n${reason}` })
    })
    child.once('close', (exitCode) => {
      resolve({ exitCode, ...texts })
    })
  })
}
