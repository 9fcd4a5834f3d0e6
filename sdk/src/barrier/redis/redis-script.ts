import { createHash } from 'node:crypto'
import { type BarrierDecision, originOf, undoOf } from '@counterstep/barrier'
import type { Op } from '@counterstep/protocol'
import { decideCall } from '../decide-call.ts'

// One hash per gid, branch and barrier id: a field per op that holds the row's reason, one beside it for the answer.
// A hash field of an effect's answer may be missing: of a row that blocks an original.
const PROLOGUE = `local barrier, own, origin, undo, ttlMs, mode = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local answerBytesMax = tonumber(ARGV[6])
local reason = redis.call('HGET', barrier, own)
local decision
if not reason then
  local originStands = origin ~= '' and redis.call('HEXISTS', barrier, origin) == 1
  decision = originStands and ARGV[8] or ARGV[7]
else
  local undoStands = undo ~= '' and redis.call('HEXISTS', barrier, undo) == 1
  decision = ARGV[9 + (reason == own and 0 or 2) + (undoStands and 1 or 0)]
end
if decision == 'null-compensation' then
  redis.call('HSET', barrier, origin, own, own, own)
  redis.call('PEXPIRE', barrier, ttlMs)
end
if decision == 'duplicate' then return { decision, redis.call('HGET', barrier, own .. ':answer') or '' } end
if decision ~= 'run' or mode == 'decide' then return { decision, '' } end
local function success(answer) return { result = 'success', answer = cjson.encode(answer) } end
local function failure(code, message) return { result = 'failure', code = code, message = message } end
local function ongoing(retryAfterMs) return { result = 'ongoing', retryAfterMs = retryAfterMs } end
local function effect(KEYS, ARGV)
`

// The rows come after the effect: an error in it must not leave a row that says it was done.
const EPILOGUE = `
end
local outcome = effect({ unpack(KEYS, 2) }, { unpack(ARGV, 13) })
if outcome ~= nil and (type(outcome) ~= 'table' or outcome.result == nil) then outcome = success(outcome) end
outcome = outcome or { answer = '' }
if outcome.result == 'failure' then return { 'failure', tostring(outcome.code), tostring(outcome.message) } end
if outcome.result == 'ongoing' then return { 'ongoing', tostring(outcome.retryAfterMs or '') } end
local answer = outcome.answer
if #answer > answerBytesMax then answer = '' end
redis.call('HSET', barrier, own, own, own .. ':answer', answer)
redis.call('PEXPIRE', barrier, ttlMs)
return { decision, answer }
`

/** The reason of the row that stood, or nothing where it is new. It cannot come in between: scripts run one by one. */
const QUERY_BACK = `local reason = redis.call('HGET', KEYS[1], ARGV[1])
if reason then return reason end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return ''
`

export interface RedisScript {
  readonly text: string
  readonly sha: string
}

function named(text: string): RedisScript {
  // The name that Redis gives a script; nothing here is secret.
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

export const QUERY_BACK_SCRIPT = named(QUERY_BACK)

const SCRIPTS_MAX = 200

/** Composes and remembers scripts. An effect's text should be a constant; if not, memory is bounded all the same. */
export function redisScripts(): (effect: string) => RedisScript {
  const known = new Map<string, RedisScript>()
  return (effect) => {
    const found = known.get(effect)
    if (found !== undefined) return found
    const script = named(PROLOGUE + effect + EPILOGUE)
    if (known.size === SCRIPTS_MAX) known.clear()
    known.set(effect, script)
    return script
  }
}

/**
 * The rule as the script needs it: a decision for each state that it can find, asked of the one function that decides.
 * ARGV[1] to ARGV[3] and ARGV[7] to ARGV[12].
 */
export function ruleOf(op: Op): {
  readonly ops: readonly string[]
  readonly decisions: readonly BarrierDecision[]
} {
  const origin = originOf(op)
  const undo = undoOf(op)
  const own = new Set([op])
  const none: ReadonlySet<Op> = new Set()
  const undone = undo === undefined ? [] : [{ op: undo, reason: undo }]
  // A blocked original's row gives its undo as the reason; an op without an undo is never blocked.
  const blocked = { op, reason: undo ?? ('rollback' as const) }
  return {
    ops: [op, origin ?? '', undo ?? ''],
    decisions: [
      decideCall(op, origin === undefined ? own : new Set([op, origin]), []),
      decideCall(op, own, []),
      decideCall(op, none, [{ op, reason: op }]),
      decideCall(op, none, [{ op, reason: op }, ...undone]),
      decideCall(op, none, [blocked]),
      decideCall(op, none, [blocked, ...undone]),
    ],
  }
}
