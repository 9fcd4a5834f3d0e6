import { StoreUnavailableError } from '@counterstep/core'
import { errorOfRefusal, ServerRefusal } from '../links/command-errors.ts'
import { InFlight, type InFlightBounds } from '../links/in-flight.ts'
import { type ScriptCall, writeRowsCall } from '../shards/encode-calls.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

interface Pending {
  readonly row: ScriptCall
  readonly size: number
  readonly answered: (line: string) => void
  readonly reject: (error: unknown) => void
}

/** What goes out together, in the order of the calls. */
interface Lane {
  readonly shard: number
  waiting: Pending[]
  inFlight: number
  isFlushDue: boolean
}

/** A script holds up everybody else for as long as it runs. */
const ROWS_MAX = 64
const SIZE_MAX = 256 * 1024
/** One runs in the server while the next one is on its way. */
const GROUPS_IN_FLIGHT_MAX = 2
/** With fewer the next one waits for the answer: larger groups cost both sides less. */
const ROWS_BEHIND_MIN = 32

/**
 * Rows of one shard that are written at about the same time share one script: a call of it costs both sides more than a
 * row does, and what it does to the shard's indexes is done to all at once.
 */
export class RowWrites {
  readonly #calls: ShardCalls
  readonly #waiting: InFlight
  readonly #lanes = new Map<number, Lane>()

  constructor(calls: ShardCalls, bounds: InFlightBounds) {
    this.#calls = calls
    this.#waiting = new InFlight(bounds)
  }

  /** Resolves with what the row's line of the answer means. Throws when too much waits. */
  write<Result>(shard: number, row: ScriptCall, decode: (line: string) => Result): Promise<Result> {
    const size = sizeOf(row)
    this.#waiting.enter(size)
    const lane = this.#laneOf(shard)
    return new Promise((resolve, reject) => {
      lane.waiting.push({ row, size, answered: (line) => resolve(decode(line)), reject })
      this.#flushSoon(lane)
    })
  }

  #laneOf(shard: number): Lane {
    const known = this.#lanes.get(shard)
    if (known !== undefined) return known
    const lane = { shard, waiting: [], inFlight: 0, isFlushDue: false }
    this.#lanes.set(shard, lane)
    return lane
  }

  #flushSoon(lane: Lane): void {
    if (lane.isFlushDue || !mayFlush(lane)) return
    lane.isFlushDue = true
    setImmediate(() => {
      lane.isFlushDue = false
      if (mayFlush(lane)) void this.#flush(lane)
    })
  }

  async #flush(lane: Lane): Promise<void> {
    const { shard } = lane
    const group = takeGroup(lane)
    lane.inFlight += 1
    this.#flushSoon(lane)
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
      lane.inFlight -= 1
      // After the callers' own reactions, so that their next writes ride along.
      this.#flushSoon(lane)
    }
  }
}

function mayFlush({ waiting, inFlight }: Lane): boolean {
  if (inFlight === 0) return waiting.length > 0
  return inFlight < GROUPS_IN_FLIGHT_MAX && waiting.length >= ROWS_BEHIND_MIN
}

function takeGroup(lane: Lane): readonly Pending[] {
  let rows = 0
  let sum = 0
  for (const { size } of lane.waiting) {
    if (rows === ROWS_MAX || (rows > 0 && sum + size > SIZE_MAX)) break
    rows += 1
    sum += size
  }
  return lane.waiting.splice(0, rows)
}

const ERROR = 'error '

function settle({ answered, reject }: Pending, line: string): void {
  try {
    if (line.startsWith(ERROR)) throw errorInScript(new ServerRefusal(line.slice(ERROR.length)))
    answered(line)
  } catch (error: unknown) {
    // A line that cannot be read is this row's alone.
    reject(error)
  }
}

/** It has begun: what came before the refused command is done. */
function errorInScript(refusal: ServerRefusal): Error {
  const error = errorOfRefusal(refusal)
  if (!(error instanceof StoreUnavailableError)) return error
  return new StoreUnavailableError(error.message, { applied: 'unknown', cause: refusal })
}

/** UTF-16 units: near enough for a bound, and free. */
function sizeOf({ keys, args }: ScriptCall): number {
  let size = 0
  for (const key of keys) size += key.length
  for (const argument of args) size += argument.length
  return size
}
