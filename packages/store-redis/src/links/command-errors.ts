import { AssertionError, StoreUnavailableError } from '@counterstep/core'

/** An error that the server has answered. Its text only: ioredis hangs the command's arguments, payloads and passwords, on its own. */
export class ServerRefusal extends Error {
  /** The first word of the answer, e.g. OOM. */
  readonly word: string

  constructor(message: string) {
    super(message)
    this.name = 'ServerRefusal'
    this.word = message.split(' ', 1)[0] ?? ''
  }
}

/** What a server says instead of running a command, and so a write under it has certainly not happened. */
const NOT_RUN: Readonly<Record<string, string>> = {
  OOM: 'Redis has reached its maxmemory',
  MISCONF: 'Redis cannot write to its disk',
  READONLY: 'this Redis is a replica',
  LOADING: 'Redis is loading its data',
  BUSY: 'a script keeps Redis busy',
  MASTERDOWN: 'this replica has lost its master',
  CLUSTERDOWN: 'the cluster is down',
  TRYAGAIN: 'the cluster is moving these keys',
  MOVED: 'the cluster has moved these keys',
  ASK: 'the cluster is moving these keys',
  NOREPLICAS: 'too few replicas are connected',
  NOAUTH: 'the server refused the login: Redis wants a password',
  WRONGPASS: 'the server refused the login: the user or the password is wrong',
  NOPERM: 'the Redis user lacks a permission',
}

const LOGIN_REFUSED = /^(?:NOAUTH|WRONGPASS)\b/

/** Whether the text of a server's answer refuses the user or the password. */
export function isLoginRefusal(message: string): boolean {
  return LOGIN_REFUSED.test(message)
}

/** A refused permission may also meet a script in its middle; only there does Redis name the script. */
const IN_SCRIPT = /\bscript: [0-9a-f]{40}\b/

/** The two kinds of error that a store may throw. What Redis calls an error and is not listed is a bug of ours, or a poisoned row. */
export function errorOfRefusal(refusal: ServerRefusal): StoreUnavailableError | AssertionError {
  const meaning = NOT_RUN[refusal.word]
  if (meaning === undefined) return new AssertionError(`Redis: ${refusal.message}`)
  const isHalfRun = refusal.word === 'NOPERM' && IN_SCRIPT.test(refusal.message)
  return new StoreUnavailableError(meaning, {
    applied: isHalfRun ? 'unknown' : 'no',
    isLoginRefused: isLoginRefusal(refusal.message),
    cause: refusal,
  })
}

/** Whether the user may not do what was asked. */
export function isDenied(error: unknown): boolean {
  if (!(error instanceof StoreUnavailableError)) return false
  return error.cause instanceof ServerRefusal && error.cause.word === 'NOPERM'
}

export interface Redirect {
  readonly isAsking: boolean
  /** Empty: the host that has answered. */
  readonly host: string
  readonly port: number
}

const REDIRECT = /^(MOVED|ASK) \d+ (.*):(\d+)$/

/** Where a cluster has the keys instead: the command was not run. */
export function redirectOf(refusal: ServerRefusal): Redirect | undefined {
  const [, word, host = '', port] = REDIRECT.exec(refusal.message) ?? []
  return word === undefined ? undefined : { isAsking: word === 'ASK', host, port: Number(port) }
}
