/**
 * A connection of ioredis, to one server or to a cluster.
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
  readonly isCluster?: boolean
}

/** Whether the server has forgotten a script: after a restart, a failover or SCRIPT FLUSH. */
export function isScriptMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

/** Whether it was the script that failed, rather than the server: all its errors name where in it they came up. */
export function isScriptError(error: unknown): boolean {
  return error instanceof Error && error.message.includes('user_script')
}
