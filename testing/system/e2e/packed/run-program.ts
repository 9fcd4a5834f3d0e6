import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const PROGRAM_MS_MAX = 90_000

const NPM: ReadonlySet<string> = new Set(['npm', 'npx'])

export interface ProgramOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly limitMs?: number
  /** The whole environment, where nothing of this process's is to be in it. */
  readonly only?: Readonly<Record<string, string>>
  /** The user id of the program. Default: that of this process. */
  readonly uid?: number
  readonly gid?: number
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. */
export function runProgram(
  file: string,
  args: readonly string[],
  { cwd, env, only, uid, gid, limitMs = PROGRAM_MS_MAX }: ProgramOptions,
): Promise<Ended> {
  const child = spawn(file, args, {
    cwd,
    env: only ?? { ...process.env, ...env },
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    // Both are .cmd files on Windows, which only a shell can start.
    shell: NPM.has(file) && process.platform === 'win32',
  })
  const [out, err]: string[][] = [[], []]
  child.stdout.setEncoding('utf8').on('data', (text: string) => out?.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => err?.push(text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout: out?.join('') ?? '', stderr: err?.join('') ?? '' }))
  })
}

/** Runs a program to its end, which must be a good one; answers what it printed. */
export async function readOutput(
  file: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(file, args, options)
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
  return stdout
}

export interface Service {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a service, and waits until it prints where it listens. Stopped by its own process id. */
export async function startService(
  program: string,
  { cwd, env }: ProgramOptions,
  args: readonly string[] = [],
): Promise<Service> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4_000)
  })
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), PROGRAM_MS_MAX)
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`${program} ended with ${code}:\n${errors}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
      if (found === undefined) return
      clearTimeout(timer)
      resolve(found)
    })
  })
  return {
    url,
    async stop() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
