import { AssertionError, StoreUnavailableError } from '@counterstep/core'

/**
 * An error that the server has answered. It has only the text, because ioredis adds the command's arguments, payloads
 * and passwords to its own errors.
 */
export class ServerRefusal extends Error {
  /** The first word of the answer, e.g. OOM. */
  readonly word: string

  constructor(message: string) {
    super(message)
    this.name = 'ServerRefusal'
    this.word = message.split(' ', 1)[0] ?? ''
  }
}

/** A server answers with these words instead of running a command, so a write has certainly not happened. */
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

/** Tells whether the text of a server's answer refuses the user or the password. */
export function isLoginRefusal(message: string): boolean {
  return LOGIN_REFUSED.test(message)
}

/** A permission may also be refused in the middle of a script. Only then does Redis name the script. */
const IN_SCRIPT = /\bscript: [0-9a-f]{40}\b/

/**
 * Converts a refusal to one of the two errors that a store may throw. An error of Redis that is not listed is a bug
 * here, or a poisoned row.
 */
export function toStoreError(refusal: ServerRefusal): StoreUnavailableError | AssertionError {
  const meaning = NOT_RUN[refusal.word]
  if (meaning === undefined) return new AssertionError(`Redis: ${refusal.message}`)
  const isHalfRun = refusal.word === 'NOPERM' && IN_SCRIPT.test(refusal.message)
  return new StoreUnavailableError(meaning, {
    applied: isHalfRun ? 'unknown' : 'no',
    isLoginRefused: isLoginRefusal(refusal.message),
    cause: refusal,
  })
}

/** Tells whether the user lacks the right to do what was asked. */
export function isDenied(error: unknown): boolean {
  if (!(error instanceof StoreUnavailableError)) return false
  return error.cause instanceof ServerRefusal && error.cause.word === 'NOPERM'
}

export interface Redirect {
  readonly isAsking: boolean
  /** An empty host means the host that has answered. */
  readonly host: string
  readonly port: number
}

const REDIRECT = /^(MOVED|ASK) \d+ (.*):(\d+)$/

/** Reads which server of the cluster has the keys. The command was not run. */
export function readRedirect(refusal: ServerRefusal): Redirect | undefined {
  const [, word, host = '', port] = REDIRECT.exec(refusal.message) ?? []
  return word === undefined ? undefined : { isAsking: word === 'ASK', host, port: Number(port) }
}
