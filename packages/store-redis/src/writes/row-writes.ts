import { StoreUnavailableError } from '@counterstep/core'
import { ServerRefusal, toStoreError } from '../links/command-errors.ts'
import { InFlight, type InFlightBounds } from '../links/in-flight.ts'
import { type ScriptCall, writeRowsCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

interface Pending {
  readonly row: ScriptCall
  readonly size: number
  readonly answered: (line: string) => void
  readonly reject: (error: unknown) => void
}

/** The waiting rows of one shard, in the order of the calls. */
interface ShardQueue {
  readonly shard: number
  waiting: Pending[]
  inFlight: number
  isFlushDue: boolean
}

/** Bounds a script, because Redis serves no other command while it runs. */
const ROWS_MAX = 64
const SIZE_MAX = 256 * 1024
/** One group runs in the server while the next one is on its way. */
const GROUPS_IN_FLIGHT_MAX = 2
/** If fewer rows wait, the next group waits for the answer, because larger groups cost both sides less. */
const ROWS_BEHIND_MIN = 32

/**
 * Rows of one shard that are written at about the same time share one script. A call costs both sides more than a row
 * does, and the script changes the shard's indexes once for all rows.
 */
export class RowWrites {
  readonly #calls: ShardCalls
  readonly #waiting: InFlight
  readonly #queues = new Map<number, ShardQueue>()

  constructor(calls: ShardCalls, bounds: InFlightBounds) {
    this.#calls = calls
    this.#waiting = new InFlight(bounds)
  }

  /** Resolves with the decoded line of the row. Throws if too much waits. */
  write<Result>(shard: number, row: ScriptCall, decode: (line: string) => Result): Promise<Result> {
    const size = measure(row)
    this.#waiting.enter(size)
    const queue = this.#getQueue(shard)
    return new Promise((resolve, reject) => {
      queue.waiting.push({ row, size, answered: (line) => resolve(decode(line)), reject })
      this.#flushSoon(queue)
    })
  }

  #getQueue(shard: number): ShardQueue {
    const known = this.#queues.get(shard)
    if (known !== undefined) return known
    const queue = { shard, waiting: [], inFlight: 0, isFlushDue: false }
    this.#queues.set(shard, queue)
    return queue
  }

  #flushSoon(queue: ShardQueue): void {
    if (queue.isFlushDue || !mayFlush(queue)) return
    queue.isFlushDue = true
    setImmediate(() => {
      queue.isFlushDue = false
      if (mayFlush(queue)) void this.#flush(queue)
    })
  }

  async #flush(queue: ShardQueue): Promise<void> {
    const { shard } = queue
    const group = takeGroup(queue)
    queue.inFlight += 1
    this.#flushSoon(queue)
    try {
      const rows = group.map(({ row }) => row)
      const answer = await this.#calls.script(
        shard,
        'writeRows',
        writeRowsCall(this.#calls.keys(shard), rows),
      )
      const lines = String(answer).split('\n')
      for (const [i, pending] of group.entries()) settle(pending, lines[i] ?? '')
    } catch (error: unknown) {
      const reason = error instanceof Error ? error : new Error(String(error))
      for (const { reject } of group) reject(reason)
    } finally {
      for (const { size } of group) this.#waiting.leave(size)
      queue.inFlight -= 1
      // The next flush starts after the callers' own reactions, so that their next writes go with it.
      this.#flushSoon(queue)
    }
  }
}

function mayFlush({ waiting, inFlight }: ShardQueue): boolean {
  if (inFlight === 0) return waiting.length > 0
  return inFlight < GROUPS_IN_FLIGHT_MAX && waiting.length >= ROWS_BEHIND_MIN
}

function takeGroup(queue: ShardQueue): readonly Pending[] {
  let rows = 0
  let sum = 0
  for (const { size } of queue.waiting) {
    if (rows === ROWS_MAX || (rows > 0 && sum + size > SIZE_MAX)) break
    rows += 1
    sum += size
  }
  return queue.waiting.splice(0, rows)
}

const ERROR = 'error '

function settle({ answered, reject }: Pending, line: string): void {
  try {
    if (line.startsWith(ERROR)) throw toScriptError(new ServerRefusal(line.slice(ERROR.length)))
    answered(line)
  } catch (error: unknown) {
    // A line that cannot be read concerns only its own row.
    reject(error)
  }
}

/** The script has begun, so the commands before the refused one are done. */
function toScriptError(refusal: ServerRefusal): Error {
  const error = toStoreError(refusal)
  if (!(error instanceof StoreUnavailableError)) return error
  return new StoreUnavailableError(error.message, { applied: 'unknown', cause: refusal })
}

/** Counts UTF-16 units, which are close enough for a bound and cost nothing. */
function measure({ keys, args }: ScriptCall): number {
  let size = 0
  for (const key of keys) size += key.length
  for (const argument of args) size += argument.length
  return size
}
