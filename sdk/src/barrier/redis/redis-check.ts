import { BranchError } from '../../branch/branch-errors.ts'
import type { RedisConnection } from './redis-connection.ts'

/**
 * Checks at start-up whether Redis can keep the barrier's rows: it must evict nothing (`maxmemory-policy noeviction`;
 * every other policy may drop a row before its effect), and write its log (`appendonly yes`) and flush it (`appendfsync`
 * is not `no`). Throws one `BranchError` with `BARRIER_MISCONFIGURED` that names every fault. In a cluster it asks one
 * node.
 *
 * @example
 * ```ts
 * await checkBarrier(redis)
 * ```
 */
export async function checkBarrier(redis: RedisConnection): Promise<void> {
  // INFO tells these two settings, even where a managed service hides CONFIG.
  const info = `${await redis.info('memory')}\n${await redis.info('persistence')}`
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'unknown'
  const faults: string[] = []
  if (policy !== 'noeviction') faults.push(`maxmemory-policy is ${policy}: it must be noeviction`)
  if (!/^aof_enabled:1/m.test(info))
    faults.push('appendonly is off: a restart would take effects and rows back')
  if ((await readFlush(redis)) === 'no')
    faults.push('appendfsync is no: a power cut would take effects and rows of many seconds back')
  if (faults.length > 0) throw new BranchError('BARRIER_MISCONFIGURED', faults.join('; '))
}

/** Returns how the log is flushed, or undefined where the server does not tell. */
async function readFlush(redis: RedisConnection): Promise<string | undefined> {
  try {
    const answer = await redis.config?.('GET', 'appendfsync')
    return Array.isArray(answer) ? String(answer[1]) : undefined
  } catch (error: unknown) {
    if (error instanceof Error && error.name === 'ReplyError') return undefined
    throw error
  }
}
