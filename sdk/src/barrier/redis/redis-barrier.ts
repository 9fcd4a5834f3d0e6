import type { Op } from '@counterstep/protocol'
import {
  type BarrierReason,
  computeRowInstants,
  findOriginOp,
  mustRollBack,
  QUERY_BACK_ROW,
} from '@counterstep/protocol/barrier'
import { toBarrierKey } from '../../branch/barrier-key.ts'
import type { BarrierCall } from '../../branch/branch.ts'
import { BranchError, BranchFailure, BranchOngoing } from '../../branch/branch-errors.ts'
import type { BarrierOptions, BarrierOutcome } from '../barrier.ts'
import {
  isNothingToUndo,
  settleReuse,
  toMessageError,
  toOriginalMissingError,
  toOutcome,
} from '../decide-call.ts'
import { keepRefusals } from '../keep-refusals.ts'
import { buildLocalCall, type MessageBarrier } from '../message-barrier.ts'
import type { UndoOfRefusal } from '../pass-barrier.ts'
import { toLocalOutcome } from '../query-back.ts'
import { assertNotExpired, checkRetentionMs } from '../retention.ts'
import { EMPTY_ANSWER, STORED_ANSWER_BYTES_MAX } from '../stored-answer.ts'
import { computeHashSlot } from './hash-slot.ts'
import { isScriptError, isScriptMissing, type RedisConnection } from './redis-connection.ts'
import { REDIS_EFFECTS, type RedisEffect, type RedisEffects } from './redis-effect.ts'
import { createScriptComposer, QUERY_BACK_SCRIPT, type RedisScript, readRule } from './redis-script.ts'

/**
 * These are the options of the Redis barrier. It has keys instead of a table, and the retention is their time to live.
 *
 * @example
 * ```ts
 * const options: RedisBarrierOptions = { hashTag: (call) => accountOf(call.payload) }
 * ```
 */
export interface RedisBarrierOptions extends Omit<BarrierOptions, 'table'> {
  /** This is the prefix of the barrier's keys. The default is `counterstep:barrier`. It has no braces. */
  readonly prefix?: string
  /**
   * A cluster needs this function. It returns the text that stands between braces in the keys of the effect, so that
   * the barrier's key is in the same slot. The text must be the same for an action and its compensation; otherwise the
   * compensation does not find the action's row, undoes nothing and succeeds. In a plain saga both get the same payload. In a
   * typed saga and in a workflow a compensation has a payload of its own, where a value of the action's answer may be null:
   * let the text follow from what both surely have, and throw where it is not there. All keys of an effect are checked
   * against the text. A message's local transaction and its query-back (op `msg`) have no payload, so for them the text
   * must follow from the gid.
   */
  readonly hashTag?: (call: BarrierCall) => string
}

/**
 * A barrier for effects in Redis, over ioredis: the rows and the effect are one script, so Redis runs both or neither,
 * except for a script that breaks off between its own writes (see {@link RedisEffect}). Rows live as long as the
 * retention, counted from the last write of the branch.
 *
 * The handler returns its effect instead of doing it. The handler is called before the barrier decides, even for a
 * duplicate, and an error that it throws counts only if the effect has to run. So the handler cannot know the answer
 * that its op undoes: `branch.original` is undefined, and the script has `original` instead. An answer over 16 KiB is
 * dropped, since by then its effect cannot be undone.
 *
 * Safe with any setting of ioredis: a script that is sent twice is a duplicate. Set its `commandTimeout`, for example
 * to the 10 s that the server waits by default: without it a Redis that has stopped holds each call for good. A call
 * that this timeout ends is answered 500, and asked again.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { branchHandler } from '@counterstep/sdk/fastify'
 * import { redisBarrier } from '@counterstep/sdk/barrier/redis'
 *
 * const barrier = redisBarrier(new Redis('redis://127.0.0.1:6379'))
 * app.post('/debit', branchHandler(barrier, (tx, branch: Branch<{ id: string; cents: number }>) =>
 *   tx.add({ key: `account:${branch.payload.id}`, delta: -branch.payload.cents, minimum: 0 }),
 * ))
 * ```
 */
export function redisBarrier(
  redis: RedisConnection,
  { prefix = 'counterstep:barrier', hashTag, retentionMs, now = Date.now }: RedisBarrierOptions = {},
): MessageBarrier<RedisEffects, RedisEffect> {
  if (/[{}]/.test(prefix))
    throw new TypeError('prefix must have no braces: hashTag says what is between them')
  if (redis.isCluster === true && hashTag === undefined) {
    throw new TypeError('in a cluster the Redis barrier needs hashTag, to be in the slot of its effects')
  }
  const keptMs = checkRetentionMs(retentionMs)
  const toScript = createScriptComposer()
  const readKey = (call: BarrierCall): string => {
    const { gid, branchId, barrierId } = toBarrierKey(call)
    // The lengths keep two keys apart, because ids may have colons.
    const id = `${gid.length}:${gid}:${branchId.length}:${branchId}:${barrierId}`
    return hashTag === undefined ? `${prefix}:${id}` : `${prefix}:{${checkTag(hashTag(call))}}:${id}`
  }
  return {
    run: keepRefusals(async (call: UndoOfRefusal, plan) => {
      const nowMs = now()
      assertNotExpired(call, keptMs, nowMs)
      const key = readKey(call)
      const planned = await planEffect(plan)
      if (hashTag !== undefined && 'effect' in planned) assertOneSlot(key, planned.effect.keys)
      const { ops, decisions } = readRule(call.op)
      const { script, keys, args } = 'effect' in planned ? planned.effect : NO_EFFECT
      const mode = !('effect' in planned) ? 'decide' : findOriginOp(call.op) === undefined ? 'run' : 'undo'
      const { at, since } = computeRowInstants(call.acceptedAt, nowMs)
      const rule = [
        ...ops,
        keptMs,
        mode,
        STORED_ANSWER_BYTES_MAX,
        at,
        since,
        // The script writes nothing for a decision that it does not know.
        ...(call.mustUndo === true
          ? decisions.map((each) => (isNothingToUndo(each) ? ORIGINAL_MISSING : each))
          : decisions),
        call.refusal ?? '',
      ]
      const reply = await evaluate(redis, toScript(script), [key, ...keys], [...rule, ...(args ?? [])])
      const outcome = readReply(call.op, reply)
      if (outcome.decision === 'run' && 'error' in planned) throw planned.error
      if (mustRollBack(call.op, outcome.decision)) throw toMessageError(outcome.decision)
      return outcome
    }),
    queryPrepared: async (gid, options) => {
      const call = buildLocalCall(gid, options)
      const nowMs = now()
      assertNotExpired(call, keptMs, nowMs)
      const { at, since } = computeRowInstants(call.acceptedAt, nowMs)
      const { op, reason } = QUERY_BACK_ROW
      const reply = await evaluate(redis, QUERY_BACK_SCRIPT, [readKey(call)], [op, reason, keptMs, at])
      if (!Array.isArray(reply)) throw toNoIoredisError()
      const [standing, createdAt] = reply.map(String)
      if (standing === '') return toLocalOutcome(new Set([op]), [], since)
      // A script keeps both the row and its answer, or neither.
      const row = { op, reason: standing as BarrierReason, answer: EMPTY_ANSWER }
      const known = createdAt === '' ? row : { ...row, createdAt: Number(createdAt) }
      return toLocalOutcome(new Set(), [known], since)
    },
  }
}

const ORIGINAL_MISSING = 'original-missing'

const NO_EFFECT: RedisEffect = { script: '', keys: [] }

type Planned = { readonly effect: RedisEffect } | { readonly error: unknown }

/**
 * Asks the handler for its effect. An error that the handler throws is kept for later: a payload that is refused must
 * neither fail a duplicate nor keep a null compensation from being recorded.
 */
async function planEffect(plan: (tx: RedisEffects) => RedisEffect | Promise<RedisEffect>): Promise<Planned> {
  try {
    const effect = await plan(REDIS_EFFECTS)
    if (typeof effect?.script === 'string' && Array.isArray(effect.keys)) return { effect }
    return {
      error: new TypeError('a handler behind the Redis barrier must return tx.script(…) or tx.add(…)'),
    }
  } catch (error: unknown) {
    return { error }
  }
}

function checkTag(tag: string): string {
  if (typeof tag === 'string' && tag !== '' && !/[{}]/.test(tag)) return tag
  throw new BranchError('BARRIER_KEYS_APART', 'hashTag must return a text without braces that is not empty')
}

function assertOneSlot(barrier: string, keys: readonly string[]): void {
  const slot = computeHashSlot(barrier)
  const apart = keys.filter((key) => computeHashSlot(key) !== slot)
  if (apart.length === 0) return
  throw new BranchError('BARRIER_KEYS_APART', `${apart.join(', ')} is not in the slot of ${barrier}`)
}

async function evaluate(
  redis: RedisConnection,
  { text, sha }: RedisScript,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(sha, keys.length, ...keys, ...args).catch((error: unknown) => {
      if (isScriptMissing(error)) return redis.eval(text, keys.length, ...keys, ...args)
      throw error
    })
  } catch (error: unknown) {
    if (!isScriptError(error)) throw error
    throw new BranchError('BARRIER_EFFECT_BROKEN', 'the effect broke off inside its script', error)
  }
}

function readReply(op: Op, reply: unknown): BarrierOutcome {
  const [word, first, second] = Array.isArray(reply) ? reply.map(String) : []
  switch (word) {
    case 'failure':
      throw new BranchFailure(second ?? '', first === undefined ? {} : { code: first })
    case 'ongoing':
      throw new BranchOngoing(first === undefined || first === '' ? {} : { retryAfterMs: Number(first) })
    case 'run':
    case 'duplicate':
    case 'null-compensation':
    case 'already-compensated':
      return toOutcome(word, first ?? '')
    case 'gid-reused':
    case 'nothing-to-undo':
    case 'undo-in-the-way':
      return settleReuse(op, word)
    case ORIGINAL_MISSING:
      throw toOriginalMissingError(op)
    default:
      throw toNoIoredisError()
  }
}

function toNoIoredisError(): TypeError {
  return new TypeError('this is no ioredis: a script was not answered as scripts answer')
}
