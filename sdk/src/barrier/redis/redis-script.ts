import { createHash } from 'node:crypto'
import type { Op } from '@counterstep/protocol'
import { type BarrierRow, findOriginOp, findUndoOp } from '@counterstep/protocol/barrier'
import { type CallDecision, decideCall } from '../decide-call.ts'

// The effect stands before our variables. One that it sets without a local is a global then, which Redis refuses, or has the
// name of one of ours: it sets one of these here, which nothing reads.
const EFFECT = `local barrier, own, pair, ttlMs, mode, answerBytesMax, at, since, look, reason, isOther, state, pairState
local decision, made, make, outcome, answer
local function effect(KEYS, ARGV, original, success, successJson, failure, ongoing)
`

// There is one hash per gid, branch and barrier id. For each op it has a field for the row's reason, one for the
// instant of its transaction, and one for the answer. The instant is missing in rows of versions that did not keep it,
// and the answer is missing in a row that blocks an original. The `pair` is the op's origin or its undo, since no op
// has both.
const PROLOGUE = `
end
local barrier, own, pair, ttlMs, mode = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local answerBytesMax, at, since = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local function look(op)
  local row = redis.call('HMGET', barrier, op, op .. ':at')
  return row[1], row[2] and tonumber(row[2]) < since
end
local reason, isOther = look(own)
local state = not reason and 0 or isOther and 3 or reason == own and 1 or 2
local pairState = 0
if pair ~= '' then
  local pairReason, isPairOther = look(pair)
  pairState = not pairReason and 0 or isPairOther and 2 or 1
end
local decision = ARGV[8 + 3 * state + pairState]
if decision == 'null-compensation' then
  redis.call('HSET', barrier, pair, own, pair .. ':at', at, own, own, own .. ':at', at)
  if ARGV[20] ~= '' then redis.call('HSET', barrier, own .. ':answer', ARGV[20]) end
  redis.call('PEXPIRE', barrier, ttlMs)
end
if decision == 'duplicate' then return { decision, redis.call('HGET', barrier, own .. ':answer') or '' } end
if decision ~= 'run' or mode == 'decide' then return { decision, '' } end
local original = mode == 'undo' and redis.call('HGET', barrier, pair .. ':answer') or nil
if original == '' then original = nil end
local made = {}
local function make(outcome)
  made[outcome] = true
  return outcome
end
local function successJson(text)
  local isText = type(text) == 'string' or type(text) == 'number'
  return make({ result = 'success', answer = isText and tostring(text) or '' })
end
local function success(answer)
  local isEncoded, text = pcall(cjson.encode, answer)
  return successJson(isEncoded and text)
end
local function failure(code, message) return make({ result = 'failure', code = code, message = message }) end
local function ongoing(retryAfterMs) return make({ result = 'ongoing', retryAfterMs = retryAfterMs }) end
`

// The rows are written after the effect, because an error in the effect must not leave a row that says that the effect
// was done. Nothing between the effect and the rows may fail: a repeat would then make the effect a second time. So an
// answer of the effect's own is never taken for an outcome, and one that is no JSON is dropped. A table of an err
// and nothing else is how Redis' own functions say that something failed.
const EPILOGUE = `local function isError(outcome)
  if type(outcome) ~= 'table' or made[outcome] or type(outcome.err) ~= 'string' then return false end
  for key in pairs(outcome) do
    if key ~= 'err' and key ~= 'source' and key ~= 'line' and key ~= 'ignore_error_stats_update' then return false end
  end
  return true
end
local outcome = effect({ unpack(KEYS, 2) }, { unpack(ARGV, 21) }, original, success, successJson, failure, ongoing)
if outcome == nil then outcome = successJson() end
if isError(outcome) then error(outcome.err) end
if not made[outcome] then outcome = success(outcome) end
if outcome.result == 'failure' then return { 'failure', tostring(outcome.code), tostring(outcome.message) } end
if outcome.result == 'ongoing' then return { 'ongoing', tostring(outcome.retryAfterMs or '') } end
local answer = outcome.answer
if #answer > answerBytesMax then answer = '' end
redis.call('HSET', barrier, own, own, own .. ':at', at, own .. ':answer', answer)
redis.call('PEXPIRE', barrier, ttlMs)
return { decision, answer }
`

/**
 * Returns the reason and the instant of the row that stood, or nothing if the row is new. No other call can come in
 * between, because scripts run one by one.
 */
const QUERY_BACK = `local row = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[1] .. ':at')
if row[1] then return { row[1], row[2] or '' } end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], ARGV[1] .. ':at', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { '', '' }
`

export interface RedisScript {
  readonly text: string
  readonly sha: string
}

function toScript(text: string): RedisScript {
  // Redis names a script by its SHA-1. Nothing here is secret.
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

export const QUERY_BACK_SCRIPT = toScript(QUERY_BACK)

const SCRIPTS_MAX = 200

/**
 * Composes and remembers scripts. The text of an effect should be a constant. If it is not, memory is bounded all the
 * same.
 */
export function createScriptComposer(): (effect: string) => RedisScript {
  const known = new Map<string, RedisScript>()
  return (effect) => {
    const found = known.get(effect)
    if (found !== undefined) return found
    const script = toScript(EFFECT + effect + PROLOGUE + EPILOGUE)
    if (known.size === SCRIPTS_MAX) known.clear()
    known.set(effect, script)
    return script
  }
}

const OTHER = { createdAt: 0 }
const SINCE = 1

/**
 * Returns the rule of one op as the script needs it: a decision for each state that the script can find. Every decision
 * comes from the one function that decides. The rule fills ARGV[1], ARGV[2] and ARGV[8] to ARGV[19]. These last are the
 * decisions for four states of the own row (it is missing, stands, blocks the op, or is another transaction's) times
 * three states of the pair's row (it is missing, stands, or is another transaction's). ARGV[20] is the refusal that a null
 * compensation keeps, if it keeps one.
 */
export function readRule(op: Op): RedisRule {
  const known = rules.get(op)
  if (known !== undefined) return known
  const rule = makeRule(op)
  rules.set(op, rule)
  return rule
}

interface RedisRule {
  readonly ops: readonly string[]
  readonly decisions: readonly CallDecision[]
}

/** The map has at most one rule for each op. */
const rules = new Map<Op, RedisRule>()

function makeRule(op: Op): RedisRule {
  const origin = findOriginOp(op)
  const undo = findUndoOp(op)
  const pair = origin ?? undo
  // The row of a blocked original has the undo as its reason. An op without an undo is never blocked.
  const reason = undo ?? ('rollback' as const)
  const owns: readonly (BarrierRow | undefined)[] = [
    undefined,
    { op, reason: op },
    { op, reason },
    { op, reason: op, ...OTHER },
  ]
  const pairs: readonly (BarrierRow | undefined)[] =
    pair === undefined
      ? [undefined, undefined, undefined]
      : [undefined, { op: pair, reason: pair }, { op: pair, reason: pair, ...OTHER }]
  const decisions = owns.flatMap((own) =>
    pairs.map((other) => {
      const inserted = new Set<Op>()
      if (own === undefined) inserted.add(op)
      if (origin !== undefined && other === undefined) inserted.add(origin)
      const standing = [own, other].filter((row) => row !== undefined)
      return decideCall(op, inserted, standing, SINCE)
    }),
  )
  return { ops: [op, pair ?? ''], decisions }
}
