/**
 * The effect of a call in Redis: Lua that runs in one script with the barrier's rows. A handler behind the Redis
 * barrier returns one; make it with `tx.script` or `tx.add`.
 *
 * The script has `KEYS` and `ARGV` to itself, and ends in `return success(answer)`, `return failure(code, message)`,
 * `return ongoing(retryAfterMs)`, or nothing for an empty answer. `successJson(text)` answers JSON text as it is, because
 * cjson rounds numbers to 14 digits. An answer that JSON cannot say, such as a NaN, is dropped. In an undo it also has `original`: the first answer
 * of the action (for a cancel: of the try) as JSON text, for `cjson.decode`. `original` is nil where that answer was
 * empty or was dropped, and for every op that undoes no other. Redis rolls nothing back, so let the script check
 * everything first and write last. After `failure` and `ongoing` no row is kept, but what the script has written stays.
 * An error after a write leaves that write behind without a row, so that a repeat writes it again. A table with the text `err` and
 * nothing of your own, as `redis.pcall` and `redis.error_reply` return it, is such an error. Do not call SELECT: the row would be written to the other database.
 *
 * @example
 * ```ts
 * const reserve: RedisEffect = {
 *   script: `if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then return failure('TAKEN', 'the seat is taken') end
 *            redis.call('SADD', KEYS[1], ARGV[1])`,
 *   keys: ['flight:{LX38}:seats'],
 *   args: ['12A'],
 * }
 * ```
 */
export interface RedisEffect {
  /** This is a constant text. Values that vary go into `args`. */
  readonly script: string
  /** It lists every key that the script touches. In a cluster all must be in the slot of the barrier's `hashTag`. */
  readonly keys: readonly string[]
  readonly args?: readonly (string | number)[]
}

/**
 * An addition that `tx.add` makes.
 *
 * @example
 * ```ts
 * const debit: RedisAddition = { key: 'account:alice', delta: -1250, minimum: 0 }
 * ```
 */
export interface RedisAddition {
  /** This key holds a whole number. */
  readonly key: string
  /** This is a whole number. */
  readonly delta: number
  /**
   * The least value that may remain. If less would remain, or if the key is missing, the addition fails with
   * `INSUFFICIENT`. Without a `minimum` the delta is always added. A compensation needs that: if it were refused, it
   * would be asked again for ever.
   */
  readonly minimum?: number
}

/**
 * Makes the effects that a handler behind the Redis barrier returns.
 *
 * @example
 * ```ts
 * const handler = (tx: RedisEffects, branch: Branch<{ id: string; cents: number }>) =>
 *   tx.add({ key: `account:${branch.payload.id}`, delta: -branch.payload.cents, minimum: 0 })
 * ```
 */
export interface RedisEffects {
  script(script: string, keys: readonly string[], args?: readonly (string | number)[]): RedisEffect
  /**
   * Makes a conditional INCRBY, which answers the new value as `{ "value": 41 }`. Throws a TypeError if `delta` or
   * `minimum` is not a whole number.
   */
  add(addition: RedisAddition): RedisEffect
}

// Lua computes in doubles, so beyond 2^53 a comparison would be wrong. Everything is checked before the one write. The
// answer is not made by cjson.
const ADD = `local text = redis.call('GET', KEYS[1])
local value = tonumber(text or '0')
local delta = tonumber(ARGV[1])
if ARGV[2] ~= '' and (not text or value + delta < tonumber(ARGV[2])) then
  return failure('INSUFFICIENT', 'the value would fall below its minimum')
end
if not value or math.abs(value) > 9007199254740991 or math.abs(value + delta) > 9007199254740991 then
  error('the value is no number between -2^53 and 2^53')
end
redis.call('INCRBY', KEYS[1], ARGV[1])
return successJson(string.format('{"value":%.0f}', value + delta))`

export const REDIS_EFFECTS: RedisEffects = {
  script: (script, keys, args = []) => ({ script, keys, args }),
  add: ({ key, delta, minimum }) => {
    if (!Number.isSafeInteger(delta) || (minimum !== undefined && !Number.isSafeInteger(minimum))) {
      throw new TypeError('delta and minimum must be whole numbers between -2^53 and 2^53')
    }
    return { script: ADD, keys: [key], args: [delta, minimum ?? ''] }
  },
}
