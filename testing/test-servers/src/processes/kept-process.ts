import { type ChildProcess, fork } from 'node:child_process'
import { chmod, chown, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServerUser } from '../servers/server-user.ts'
import type { News, Order } from './keeper-messages.ts'

const ANSWER_MS_MAX = 30_000

/** A process that dies with this one. */
export interface KeptProcess {
  readonly pid: number
  hasEnded(): boolean
  signal(name: NodeJS.Signals): Promise<void>
  /** How it ended: an exit code or a signal. Fails when it is still there after `limitMs`. */
  end(limitMs: number): Promise<string>
}

interface Keeper {
  readonly child: ChildProcess
  readonly folder: string
}

let keeper: Promise<Keeper> | undefined
let idsGiven = 0
let foldersGiven = 0

/** Everybody may pass through it; only its owner may look into it. */
const PASSABLE = 0o711

/** A new folder of this user's, deleted at the latest when this process is gone. */
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

/** Starts a program as a child of the keeper; its output is appended to `log`. */
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
  const ended = newsOf(child, (news) => {
    if (news.type !== 'ended' || news.id !== id) return undefined
    how = news.how
    return news
  })
  const started = newsOf(child, (news) =>
    (news.type === 'started' || news.type === 'refused') && news.id === id ? news : undefined,
  )
  order(child, { type: 'start', id, command, args, log, user })
  const answer = await within(ANSWER_MS_MAX, `start of ${command}`, started)
  if (answer.type === 'refused') throw new Error(`${command} does not start: ${answer.why}`)
  return {
    pid: answer.pid,
    hasEnded: () => how !== undefined,
    async signal(name) {
      const done = newsOf(child, (news) => (news.type === 'signalled' && news.id === id ? news : undefined))
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
  const ready = newsOf(child, (news) => (news.type === 'ready' ? news : undefined))
  const { folder } = await within(ANSWER_MS_MAX, 'start of the keeper', ready)
  // Whoever forgets a server still comes to an end, and the keeper then ends the server.
  child.unref()
  child.channel?.unref()
  return { child, folder }
}

function order(child: ChildProcess, what: Order): void {
  child.send(what)
}

/** The first news that `pick` takes; fails when the keeper is gone. */
function newsOf<T extends News>(child: ChildProcess, pick: (news: News) => T | undefined): Promise<T> {
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
  // It may fail before anybody waits for it; who waits gets the error.
  promise.catch(() => undefined)
  return promise
}

/** The timer also keeps this process alive while it waits, which the keeper's channel does not. */
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
