import { type ChildProcess, fork } from 'node:child_process'
import { chmod, chown, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServerUser } from '../servers/server-user.ts'
import type { News, Order } from './keeper-messages.ts'

const ANSWER_MS_MAX = 30_000

/** A process that ends when this one ends. */
export interface KeptProcess {
  readonly pid: number
  hasEnded(): boolean
  signal(name: NodeJS.Signals): Promise<void>
  /** Resolves with its exit code or signal. Rejects if it still runs after `limitMs`. */
  end(limitMs: number): Promise<string>
}

interface Keeper {
  readonly child: ChildProcess
  readonly folder: string
}

let keeper: Promise<Keeper> | undefined
let idsGiven = 0
let foldersGiven = 0

/** All users may pass through the folder, and only its owner may list it. */
const PASSABLE = 0o711

/** Makes a new folder of this user. It is deleted at the latest when this process has ended. */
export async function keptFolder(name: string, user?: ServerUser): Promise<string> {
  const { folder } = await theKeeper()
  foldersGiven += 1
  const path = await mkdtemp(join(folder, `${name}-${foldersGiven}-`))
  if (user !== undefined) {
    await chmod(folder, PASSABLE)
    await chown(path, user.uid, user.gid)
  }
  return path
}

/** Starts a program as a child of the keeper. Its output is appended to `log`. */
export async function startKept(
  command: string,
  args: readonly string[],
  log: string,
  user?: ServerUser,
): Promise<KeptProcess> {
  const { child } = await theKeeper()
  idsGiven += 1
  const id = idsGiven
  let how: string | undefined
  const ended = awaitNews(child, (news) => {
    if (news.type !== 'ended' || news.id !== id) return undefined
    how = news.how
    return news
  })
  const started = awaitNews(child, (news) =>
    (news.type === 'started' || news.type === 'refused') && news.id === id ? news : undefined,
  )
  order(child, { type: 'start', id, command, args, log, user })
  const answer = await within(ANSWER_MS_MAX, `start of ${command}`, started)
  if (answer.type === 'refused') throw new Error(`${command} does not start: ${answer.why}`)
  return {
    pid: answer.pid,
    hasEnded: () => how !== undefined,
    async signal(name) {
      const done = awaitNews(child, (news) =>
        news.type === 'signalled' && news.id === id ? news : undefined,
      )
      order(child, { type: 'signal', id, signal: name })
      const { failure } = await within(ANSWER_MS_MAX, `${name} to ${command}`, done)
      if (failure !== undefined) throw new Error(`${name} to ${command}: ${failure}`)
    },
    async end(limitMs) {
      return (await within(limitMs, `end of ${command}`, ended)).how
    },
  }
}

function theKeeper(): Promise<Keeper> {
  keeper ??= startKeeper()
  return keeper
}

async function startKeeper(): Promise<Keeper> {
  const child = fork(join(import.meta.dirname, 'keeper.ts'), [], {
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.setMaxListeners(0)
  const ready = awaitNews(child, (news) => (news.type === 'ready' ? news : undefined))
  const { folder } = await within(ANSWER_MS_MAX, 'start of the keeper', ready)
  // A process that forgets to stop a server can still end, and the keeper then ends the server.
  child.unref()
  child.channel?.unref()
  return { child, folder }
}

function order(child: ChildProcess, what: Order): void {
  child.send(what)
}

/** Resolves with the first message that `pick` takes. Rejects if the keeper has ended. */
function awaitNews<T extends News>(child: ChildProcess, pick: (news: News) => T | undefined): Promise<T> {
  const promise = new Promise<T>((resolve, reject) => {
    const onMessage = (news: News) => {
      const picked = pick(news)
      if (picked === undefined) return
      settle()
      resolve(picked)
    }
    const onGone = () => {
      settle()
      reject(new Error('the keeper of the test servers is gone'))
    }
    const settle = () => child.off('message', onMessage).off('exit', onGone).off('error', onGone)
    child.on('message', onMessage).on('exit', onGone).on('error', onGone)
  })
  // It may fail before a caller awaits it. A caller that awaits it gets the error.
  promise.catch(() => undefined)
  return promise
}

/** Bounds the wait. Its timer also keeps this process alive meanwhile, which the keeper's channel does not. */
async function within<T>(limitMs: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${limitMs} ms: ${what}`)), limitMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
