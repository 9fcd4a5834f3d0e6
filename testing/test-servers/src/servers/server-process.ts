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

/** How to run one server: always the same command, folder and port. */
export interface ServerSpec {
  readonly name: string
  readonly folder: string
  readonly command: string
  readonly args: readonly string[]
  /** Default: who we are. */
  readonly user?: ServerUser | undefined
  /** What asks it to end. Default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals
  /** What is missing until it answers; undefined when it does. */
  readonly waitingFor: () => Promise<string | undefined>
}

export interface ServerProcess {
  pid(): number
  /** Asks it to end, waits for that, deletes its folder. */
  stop(): Promise<void>
  /** SIGKILL; its data stays for `restart`. */
  kill(): Promise<void>
  /** On the same data and port; ends it cleanly first when it runs. Returns when it answers. */
  restart(): Promise<void>
  /** SIGSTOP: connections stay, nothing is answered until `resume`. */
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
  // A paused process takes the other signal only now.
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
