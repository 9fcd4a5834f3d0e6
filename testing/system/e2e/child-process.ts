import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { onTestFinished } from 'vitest'

const READY_MS_MAX = 30_000

export interface Child {
  readonly url: string
  /** Its exit code, when all that it printed has been read; null if a signal has ended it. */
  readonly ended: Promise<number | null>
  /** Resolves when the process is gone. Throws if it has printed a secret that it was given. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

/** Starts a program of the repository and waits for its line with a url. Stopped by its own process id. */
export async function startChild(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Child> {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  const watch = new SecretWatch()
  watch.follow(child, program)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const url = await readyUrl(child, program)
  return {
    url,
    ended,
    async kill(signal) {
      child.kill(signal)
      await ended
      watch.assertNone()
    },
  }
}

/** Starts a server that keeps its data in the folder, and stops it at the end of the test. */
export async function serveUntilTestEnds(folder: string, more: readonly string[] = []): Promise<Child> {
  const data = join(folder, 'data')
  const args = ['serve', '--port', '0', '--data', data, '--ready-json', ...more]
  const server = await startChild(COUNTERSTEP_PROGRAM, args)
  onTestFinished(() => server.kill('SIGTERM'))
  return server
}

function readyUrl(child: ChildProcess, program: string): Promise<string> {
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000)
  })
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${program} ${why}\n${errors}`))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail('was not ready in time')
    }, READY_MS_MAX)
    child.once('exit', (code) => fail(`exited with ${code}`))
    const { stdout } = child
    if (stdout === null) return fail('has no output')
    createInterface({ input: stdout }).on('line', (line) => {
      const url = /"url":"(http:\/\/[^"]+)"/.exec(line)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
  })
}
