import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RootFileSystem } from './root-file-system.ts'

const ENTER_ROOT = join(import.meta.dirname, 'enter-root.sh')
const START_MS_MAX = 10_000
const POLL_MS = 5
/** A command that should end by itself is killed after this time. */
const RUN_MS_MAX = 120_000

export interface Mount {
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
}

export interface ContainerOptions {
  readonly env?: Readonly<Record<string, string>>
  /** It replaces the image's own entrypoint. */
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly mounts?: readonly Mount[]
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Container {
  /** Returns everything that it has printed so far. */
  output(): string
  /** Sends a signal to its PID 1, like `docker stop` and `docker kill`. */
  signal(signal: NodeJS.Signals): Promise<void>
  readonly ended: Promise<Ended>
  /** Ends it with SIGKILL, if it has not ended. */
  end(): Promise<void>
}

/**
 * Runs the image's command as the image's user, with a read-only root and as PID 1. The checks have to prove both, and
 * buildah's own `run` has neither of them without a container runtime.
 */
export function startContainer({ image, folder }: RootFileSystem, options: ContainerOptions): Container {
  const { config } = image
  const { env = {}, entrypoint = config.Entrypoint ?? [], command = config.Cmd ?? [], mounts = [] } = options
  for (const mount of mounts) makeMountPoint(folder, mount)
  const variables = { ...Object.fromEntries(config.Env.map(splitVariable)), ...env }
  const [user = '', group = ''] = config.User.split(':')
  const args = [
    ...['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child'],
    ...['--propagation', 'private', 'sh', ENTER_ROOT, folder],
    ...mounts.flatMap(({ source, target, readOnly }) => [source, target, readOnly ? 'ro' : 'rw']),
    ...['--', user, group, config.WorkingDir],
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    ...entrypoint,
    ...command,
  ]
  const child = spawn('setpriv', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal }))
  return {
    output: () => output,
    signal: async (signal) => {
      process.kill(await findFirstProcess(child), signal)
    },
    ended,
    end: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export async function runContainer(
  root: RootFileSystem,
  options: ContainerOptions,
): Promise<Ended & { output: string }> {
  const container = startContainer(root, options)
  const limit = setTimeout(() => void container.end(), RUN_MS_MAX)
  const ended = await container.ended
  clearTimeout(limit)
  return { ...ended, output: container.output() }
}

/** Creates a volume as Docker does: it is empty, and has the owner of the image's folder at that path. */
export function makeVolume({ folder }: RootFileSystem, source: string, target: string): Mount {
  const { uid, gid } = statSync(join(folder, target))
  if (!existsSync(source)) {
    mkdirSync(source, { recursive: true })
    chownSync(source, uid, gid)
  }
  return { source, target, readOnly: false }
}

function splitVariable(text: string): [string, string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}

function makeMountPoint(root: string, { source, target }: Mount): void {
  const at = join(root, target)
  if (statSync(source).isDirectory()) {
    mkdirSync(at, { recursive: true })
    return
  }
  mkdirSync(dirname(at), { recursive: true })
  writeFileSync(at, '', { flag: 'a' })
}

/** Finds the process that is PID 1 inside the container, by its id on this machine. */
async function findFirstProcess({ pid }: ChildProcess): Promise<number> {
  const endAt = Date.now() + START_MS_MAX
  for (;;) {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
    if (child !== undefined && child !== '') return Number(child)
    if (Date.now() > endAt) throw new Error(`no process in the container after ${START_MS_MAX} ms`)
    await sleep(POLL_MS)
  }
}
