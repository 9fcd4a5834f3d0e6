import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'

const FOLLOW_PARENT = new URL('../../../scripts/follow-parent.mjs', import.meta.url).href

const READY_MS_MAX = 20_000

export interface Server {
  readonly dtmUrl: string
  stop(): Promise<void>
}

/** The server as its users start it, with DTM's face on a free port. `storeUrl` absent: the file in the folder. */
export async function startServer(folder: string, storeUrl: string | undefined): Promise<Server> {
  const listening = [
    'serve',
    '--ready-json',
    '--port',
    '0',
    '--dtm-port',
    '0',
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
  const ready = new Promise<string>((resolve, reject) => {
    // Read to the end, so that the pipe never fills.
    createInterface({ input: stdout }).on('line', (line) => {
      const url = readDtmUrl(line)
      if (url !== undefined) resolve(url)
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
    return { dtmUrl: await ready, stop }
  } catch (error: unknown) {
    await stop()
    throw error
  }
}

function readDtmUrl(line: string): string | undefined {
  try {
    const { dtmUrl } = JSON.parse(line) as { readonly dtmUrl?: unknown }
    return typeof dtmUrl === 'string' ? dtmUrl : undefined
  } catch {
    return undefined
  }
}
