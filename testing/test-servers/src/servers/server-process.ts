import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServerFailedError } from '../errors.ts'
import { type KeptProcess, startKept } from '../processes/kept-process.ts'
import type { ServerUser } from './server-user.ts'
import { untilReady } from './until-ready.ts'

const READY_MS_MAX = 60_000
const STOP_MS_MAX = 60_000
const KILL_MS_MAX = 10_000
const LOG_LINES_SHOWN = 20

/** Says how to run one server, always with the same command, folder and port. */
export interface ServerSpec {
  readonly name: string
  readonly folder: string
  readonly command: string
  readonly args: readonly string[]
  /** The user of the server. Default: the user of this process. */
  readonly user?: ServerUser | undefined
  /** The signal that asks the server to end. Default: SIGTERM. */
  readonly stopSignal?: NodeJS.Signals
  /** Returns what is missing until the server answers, or undefined once it answers. */
  readonly waitingFor: () => Promise<string | undefined>
}

export interface ServerProcess {
  pid(): number
  /** Asks the server to end, waits for that, and deletes its folder. */
  stop(): Promise<void>
  /** Kills the server by SIGKILL. Its data stays for `restart`. */
  kill(): Promise<void>
  /** Starts the server again on the same data and port, after a clean end if it runs. Returns when it answers. */
  restart(): Promise<void>
  /** Stops the server by SIGSTOP. Its connections stay, and it answers nothing until `resume`. */
  pause(): Promise<void>
  resume(): Promise<void>
}

export async function startServerProcess(spec: ServerSpec): Promise<ServerProcess> {
  let running = await launch(spec)
  return {
    pid: () => running.pid,
    async stop() {
      try {
        await stopCleanly(spec, running)
      } finally {
        await rm(spec.folder, { recursive: true, force: true, maxRetries: 3 })
      }
    },
    async kill() {
      await killHard(running)
    },
    async restart() {
      await stopCleanly(spec, running)
      running = await launch(spec)
    },
    async pause() {
      await running.signal('SIGSTOP')
    },
    async resume() {
      await running.signal('SIGCONT')
    },
  }
}

async function launch(spec: ServerSpec): Promise<KeptProcess> {
  const log = join(spec.folder, 'log')
  const process = await startKept(spec.command, spec.args, log, spec.user)
  try {
    await untilReady(`${spec.name} answers`, READY_MS_MAX, async () => {
      if (process.hasEnded()) throw new Error(`${spec.name} ended with ${await process.end(KILL_MS_MAX)}`)
      return await spec.waitingFor()
    })
  } catch (error: unknown) {
    if (!process.hasEnded()) await killHard(process)
    throw new ServerFailedError(`${String(error)}; the end of its log:\n${await lastLines(log)}`, {
      cause: error,
    })
  }
  return process
}

async function stopCleanly(spec: ServerSpec, process: KeptProcess): Promise<void> {
  if (process.hasEnded()) return
  await process.signal(spec.stopSignal ?? 'SIGTERM')
  // A paused process takes the other signal only after SIGCONT.
  await process.signal('SIGCONT')
  try {
    await process.end(STOP_MS_MAX)
  } catch (error: unknown) {
    await killHard(process)
    throw new ServerFailedError(`${spec.name} had to be killed`, { cause: error })
  }
}

async function killHard(process: KeptProcess): Promise<void> {
  await process.signal('SIGKILL')
  await process.end(KILL_MS_MAX)
}

async function lastLines(log: string): Promise<string> {
  const text = await readFile(log, 'utf8')
  return text.trimEnd().split('\n').slice(-LOG_LINES_SHOWN).join('\n')
}
