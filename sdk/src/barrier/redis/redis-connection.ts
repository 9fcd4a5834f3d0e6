/**
 * This is a connection of ioredis, to one server or to a cluster.
 *
 * @example
 * ```ts
 * const redis: RedisConnection = new Redis('redis://127.0.0.1:6379')
 * ```
 */
export interface RedisConnection {
  eval(script: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
  evalsha(sha: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
  info(section: string): Promise<string>
  /** `checkBarrier` alone asks it, and goes on where a managed service hides it. */
  config?(subcommand: 'GET', name: string): Promise<unknown>
  readonly isCluster?: boolean
}

/** Tells whether the server has forgotten a script: after a restart, a failover or SCRIPT FLUSH. */
export function isScriptMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

// Redis names the place in the script in every error that came up while the script ran, even in the error of a server
// that refuses to write just now. Redis 6 puts that refusal behind the place.
const PLACE = /\buser_script: ?\d+/
const REFUSAL =
  /(?:^|: -)(?:ASK|BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM|NOREPLICAS|OOM|READONLY|TRYAGAIN) /
/**
 * These two refusals have no error word of their own: SCRIPT KILL, which ends only a script that has written nothing,
 * and a user who lacks the right.
 */
const REFUSAL_AS_ERR = /Script killed by user|The user executing the script can't/

/**
 * Tells whether the script failed by a fault of its own, rather than by the state of the server, the network or the
 * driver.
 */
export function isScriptError(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return false
  const { message } = error
  return PLACE.test(message) && !REFUSAL.test(message) && !REFUSAL_AS_ERR.test(message)
}
