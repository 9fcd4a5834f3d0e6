import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const FOLLOW_PARENT = new URL('../../../scripts/follow-parent.mjs', import.meta.url).href
const START_MS_MAX = 30_000

export interface Program {
  readonly url: string
  /** Resolves to the signal that has ended it, or null, when all that it printed has been read. */
  readonly ended: Promise<NodeJS.Signals | null>
  stop(): Promise<void>
}

/** Starts a program that says where it listens by the line `{"url":…}`. It ends when we end. */
export async function startProgram(
  program: URL,
  args: readonly string[],
  onLine: (line: string) => void,
): Promise<Program> {
  const child = spawn(process.execPath, ['--import', FOLLOW_PARENT, fileURLToPath(program), ...args], {
    // Detached, so that Ctrl-C does not reach it before us; it follows us by the channel.
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const { stdout } = child
  if (stdout === null) throw new TypeError(`${program} was spawned without a pipe for its output`)
  const read = once(stdout, 'close')
  const ended = once(child, 'exit').then(async ([, signal]) => {
    await read
    return signal as NodeJS.Signals | null
  })
  const stop = async () => {
    if (child.connected) child.disconnect()
    await ended
  }
  const url = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${program} was not ready in time`)), START_MS_MAX)
    void ended.then(() => reject(new Error(`${program} ended before it was ready`)))
    createInterface({ input: stdout }).on('line', (line) => {
      if (!line.startsWith('{"url":')) return onLine(line)
      clearTimeout(timer)
      resolve((JSON.parse(line) as { readonly url: string }).url)
    })
  })
  try {
    return { url: await url, ended, stop }
  } catch (error: unknown) {
    await stop()
    throw error
  }
}
