import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const START_MS_MAX = 60_000
const STOP_MS_MAX = 15_000

export interface StartedProcess extends AsyncDisposable {
  /** Resolves to the first match of the pattern in a line of the output, of now or later. */
  find(pattern: RegExp): Promise<string>
  /** Ends the process at once, as a crash would. */
  kill(): Promise<void>
  /** Returns all that it has printed. */
  readonly output: string
}

/** Starts a program of the repository with this Node, and stops it at the end of the block. */
export function startProcess(args: readonly string[], environment: NodeJS.ProcessEnv = {}): StartedProcess {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [...args], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const ended = once(child, 'exit')
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      lines.push(line)
      child.emit('line')
    })
  const output = () => lines.join('\n')
  return {
    get output() {
      return output()
    },
    async find(pattern) {
      const signal = AbortSignal.timeout(START_MS_MAX)
      for (;;) {
        const match = lines.map((line) => pattern.exec(line)?.[0]).find((each) => each !== undefined)
        if (match !== undefined) return match
        const gone = ended.then(() => Promise.reject(new Error(`it has ended:\n${output()}`)))
        await Promise.race([once(child, 'line', { signal }), gone])
      }
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      const limit = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
      await ended
      clearTimeout(limit)
    },
  }
}
