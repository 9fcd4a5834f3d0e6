import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

// This is the command of the repository. Where the package is installed, use `npx counterstep serve`.
const CLI = fileURLToPath(new URL('../../../../packages/cli/src/main.ts', import.meta.url))
const FOLLOW_PARENT = new URL('../../../../scripts/follow-parent.mjs', import.meta.url).href
const START_MS_MAX = 30_000

export interface Counterstep {
  readonly url: string
  stop(): Promise<void>
}

/** A `counterstep serve` of our own, on a free port and a folder that goes with it. It ends when we end. */
export async function startCounterstep(): Promise<Counterstep> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-transfer-'))
  const options = ['--port', '0', '--data', folder, '--log-level', 'warn', '--ready-json']
  // Detached, so that Ctrl-C does not reach it before its last calls are answered; it follows us by the channel.
  const child = spawn(process.execPath, ['--import', FOLLOW_PARENT, CLI, 'serve', ...options], {
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    if (child.connected) child.disconnect()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    return { url: await announcedUrl(child), stop }
  } catch (error: unknown) {
    await stop()
    throw error
  }
}

/** The first line that begins with `{"url":`; others are its log, and go to ours. */
function announcedUrl({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`counterstep ${why}`))
    if (stdout === null) throw new TypeError('counterstep was spawned without a pipe for its output')
    const timer = setTimeout(() => fail(`was not ready within ${START_MS_MAX} ms`), START_MS_MAX)
    const lines = createInterface({ input: stdout })
    lines.on('line', (line) => {
      if (!line.startsWith('{"url":')) {
        process.stderr.write(`${line}\n`)
        return
      }
      clearTimeout(timer)
      const { url } = JSON.parse(line) as { readonly url: string }
      resolve(url)
    })
    lines.once('close', () => {
      clearTimeout(timer)
      fail('ended before it was ready')
    })
  })
}
