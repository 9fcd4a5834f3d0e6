import { computeRowInstants } from '@counterstep/protocol/barrier'
import { BranchError } from '../../branch/branch-errors.ts'
import { STORED_ANSWER_BYTES_MAX } from '../stored-answer.ts'
import type { RedisBarrierOptions } from './redis-barrier.ts'
import type { RedisConnection } from './redis-connection.ts'
import { createScriptComposer, readRule } from './redis-script.ts'

/**
 * Checks at start-up whether Redis can keep the barrier's rows: it must evict nothing (`maxmemory-policy noeviction`;
 * every other policy may drop a row before its effect), and write its log (`appendonly yes`) and flush it (`appendfsync`
 * is not `no`), and the user must have the right to send what the barrier sends: it makes a row of its own under the
 * barrier's `prefix`, which expires after a second. Throws one `BranchError` with `BARRIER_MISCONFIGURED` that names every
 * fault. In a cluster it asks one node.
 *
 * @example
 * ```ts
 * await checkBarrier(redis)
 * ```
 */
export async function checkBarrier(
  redis: RedisConnection,
  { prefix = 'counterstep:barrier' }: Pick<RedisBarrierOptions, 'prefix'> = {},
): Promise<void> {
  // INFO tells these two settings, even where a managed service hides CONFIG.
  const info = `${await redis.info('memory')}\n${await redis.info('persistence')}`
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'unknown'
  const faults: string[] = []
  if (policy !== 'noeviction') faults.push(`maxmemory-policy is ${policy}: it must be noeviction`)
  if (!/^aof_enabled:1/m.test(info))
    faults.push('appendonly is off: a restart would take effects and rows back')
  if ((await readFlush(redis)) === 'no')
    faults.push('appendfsync is no: a power cut would take effects and rows of many seconds back')
  if (faults.length === 0)
    faults.push(...(await findProbeFaults(redis, `${prefix}:self-check:${crypto.randomUUID()}`)))
  if (faults.length > 0) throw new BranchError('BARRIER_MISCONFIGURED', faults.join('; '))
}

const PROBE_KEPT_MS = 1_000

/**
 * Runs the barrier's own script twice, as a call and as its repetition, with all commands that it sends. Redis refuses a
 * command when a script comes to it, and the script writes its row after the effect: without the right to do that, each
 * attempt would make the effect again.
 */
async function findProbeFaults(redis: RedisConnection, key: string): Promise<readonly string[]> {
  const { ops, decisions } = readRule('action')
  const { at, since } = computeRowInstants(undefined, Date.now())
  const { text, sha } = createScriptComposer()('')
  const values = [...ops, PROBE_KEPT_MS, 'run', STORED_ANSWER_BYTES_MAX, at, since, ...decisions]
  try {
    // Without this right the row of the check would stay for ever, so it is tried before there is a row.
    await redis.eval("return redis.call('PEXPIRE', KEYS[1], ARGV[1])", 1, key, PROBE_KEPT_MS)
    await redis.eval(text, 1, key, ...values)
    await redis.evalsha(sha, 1, key, ...values)
    return []
  } catch (error: unknown) {
    if (error instanceof Error && error.name === 'ReplyError')
      return [`the barrier's script fails: ${error.message}`]
    throw error
  }
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
