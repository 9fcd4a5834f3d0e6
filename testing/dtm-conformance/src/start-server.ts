import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'

const FOLLOW_PARENT = new URL('../../../scripts/follow-parent.mjs', import.meta.url).href

const READY_MS_MAX = 20_000

export interface Server {
  readonly dtmUrl: string
  readonly dtmGrpcUrl: string
  stop(): Promise<void>
}

/** The server as its users start it, with DTM's face on a free port. `storeUrl` absent: the file in the folder. */
export async function startServer(folder: string, storeUrl: string | undefined): Promise<Server> {
  const listening = [
    'serve',
    '--ready-json',
    '--port',
    '0',
    ...['--dtm-port', '0', '--dtm-grpc-port', '0'],
    '--log-level',
    'warn',
    '--accept-new-kinds',
  ]
  const args = storeUrl === undefined ? [...listening, '--data', folder] : listening
  const child = spawn(process.execPath, ['--import', FOLLOW_PARENT, COUNTERSTEP_PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...(storeUrl === undefined ? {} : { COUNTERSTEP_STORE: storeUrl }) },
  })
  const { stdout } = child
  assert(stdout !== null, 'the server has no output')
  const exited = once(child, 'exit')
  const ready = new Promise<Omit<Server, 'stop'>>((resolve, reject) => {
    // Read to the end, so that the pipe never fills.
    createInterface({ input: stdout }).on('line', (line) => {
      const urls = readUrls(line)
      if (urls !== undefined) resolve(urls)
      else process.stderr.write(`${line}\n`)
    })
    exited.then(([code]) => reject(new Error(`the server has ended: ${code}`)), reject)
    setTimeout(
      () => reject(new Error(`the server is not ready after ${READY_MS_MAX} ms`)),
      READY_MS_MAX,
    ).unref()
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  try {
    return { ...(await ready), stop }
  } catch (error: unknown) {
    await stop()
    throw error
  }
}

function readUrls(line: string): Omit<Server, 'stop'> | undefined {
  try {
    const { dtmUrl, dtmGrpcUrl } = JSON.parse(line) as Partial<Readonly<Record<string, unknown>>>
    return typeof dtmUrl === 'string' && typeof dtmGrpcUrl === 'string' ? { dtmUrl, dtmGrpcUrl } : undefined
  } catch {
    return undefined
  }
}
