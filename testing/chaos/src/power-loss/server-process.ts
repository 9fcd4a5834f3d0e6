import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'

const START_MS_MAX = 60_000
const ERRORS_CHARACTERS_MAX = 2_000
/** All waits are short: a run lasts seconds. */
const SETTINGS = [
  '--poll-ms',
  '100',
  '--retry-initial-ms',
  '50',
  '--retry-cap-ms',
  '500',
  '--lease-ms',
  '1000',
]

export interface ServerProcess {
  readonly url: string
  /** Resolves when it has ended. */
  readonly gone: Promise<void>
  /** Throws if it has printed a secret that it was given. */
  kill(): Promise<void>
}

/** The server refuses its store: what the cut has left is none. */
export class StartRefusedError extends Error {
  override readonly name = 'StartRefusedError'
}

/** `counterstep serve`, as users run it. */
export async function startServer(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const all = [
    COUNTERSTEP_PROGRAM,
    'serve',
    '--port',
    '0',
    '--ready-json',
    '--log-level',
    'error',
    ...SETTINGS,
    ...args,
  ]
  const child = spawn(process.execPath, all, {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const watch = new SecretWatch()
  watch.follow(child, 'the server')
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const url = await readyUrl(child, gone)
  return {
    url,
    gone,
    kill: async () => {
      child.kill('SIGKILL')
      await gone
      watch.assertNone()
    },
  }
}

async function readyUrl(child: ChildProcess, gone: Promise<void>): Promise<string> {
  let said = ''
  const hear = (chunk: string) => {
    said = (said + chunk).slice(-ERRORS_CHARACTERS_MAX)
  }
  child.stderr?.setEncoding('utf8').on('data', hear)
  const found = new Promise<string>((resolve) => {
    if (child.stdout === null) return
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /"url":"(http:\/\/[^"]+)"/.exec(line)?.[1]
      if (url === undefined) hear(line)
      else resolve(url)
    })
  })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, START_MS_MAX)
  const url = await Promise.race([found, gone])
  clearTimeout(timer)
  if (isLate) throw new Error(`the server did not listen within ${START_MS_MAX} ms: ${said}`)
  if (url === undefined) throw new StartRefusedError(said)
  return url
}
