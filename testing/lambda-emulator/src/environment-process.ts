import { spawn } from 'node:child_process'
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { buildEnvironmentVariables } from './environment-variables.ts'
import type { FunctionSpec, LogLine } from './function-spec.ts'
import type { RuntimeClient } from './install-runtime-client.ts'

const BYTES_PER_KB = 1024

/** AWS's runtime gives these shares of the memory to Node's heap. */
const OLD_SPACE_SHARE = 0.9
const SEMI_SPACE_SHARE = 0.05

export interface EnvironmentProcess {
  readonly pid: number
  /** It tells how the process ended: by an exit code or a signal. */
  readonly ended: Promise<string>
  freeze(): void
  thaw(): void
  kill(): void
  /** Returns the most memory that the process has used. If it has ended, this is the last value that was read. */
  rssBytesMax(): number
}

/** Starts a handler under the runtime client, in a process that ends with this one. */
export function startEnvironmentProcess(
  { entry }: RuntimeClient,
  spec: FunctionSpec,
  environment: number,
  runtimeApi: string,
): EnvironmentProcess {
  const heap = [
    `--max-old-space-size=${Math.floor(spec.memoryMb * OLD_SPACE_SHARE)}`,
    `--max-semi-space-size=${Math.max(1, Math.floor(spec.memoryMb * SEMI_SPACE_SHARE))}`,
  ]
  // The kernel kills the process when its parent dies. A stopped process could not notice that by itself.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, ...heap, entry], {
    cwd: spec.taskRoot,
    env: buildEnvironmentVariables(spec, environment, runtimeApi),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(join(spec.logFolder, `${spec.name}-${environment}.log`), { flags: 'a' })
  const capture = (stream: LogLine['stream'], from: Readable) =>
    captureLines(from, log, (text) => spec.onLine?.({ functionName: spec.name, environment, stream, text }))
  capture('stdout', child.stdout)
  capture('stderr', child.stderr)
  let hasEnded = false
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  }).then((how) => {
    hasEnded = true
    return how
  })
  child.once('close', () => log.end())
  let rssBytesMax = 0
  return {
    pid: child.pid ?? 0,
    ended,
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    kill: () => child.kill('SIGKILL'),
    rssBytesMax() {
      if (!hasEnded && child.pid !== undefined) rssBytesMax = readRssBytesMax(child.pid) ?? rssBytesMax
      return rssBytesMax
    },
  }
}

function captureLines(from: Readable, log: WriteStream, onLine: (text: string) => void): void {
  createInterface({ input: from }).on('line', (text) => {
    log.write(`${text}\n`)
    onLine(text)
  })
}

/** Returns undefined when the process has just ended. */
function readRssBytesMax(pid: number): number | undefined {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * BYTES_PER_KB
  } catch (error: unknown) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) {
      return undefined
    }
    throw error
  }
}
