import type { ListCursor } from '@counterstep/core'
import type { EngineApi } from '@counterstep/engine'
import { type Gid, UNFINISHED_STATUSES } from '@counterstep/protocol'
import { LIST_MS_MAX, LIST_PAGE, LIST_ROWS_MAX, LISTS_PER_ANSWER_MAX } from '../view/list-page.ts'
import { callAtOnce } from './call-at-once.ts'

export interface ResetCount {
  readonly hasRemaining: boolean
  readonly count: number
}

export interface ResetQuery {
  /** Transactions that are due only after this instant are retried now. It is in epoch milliseconds. */
  readonly dueAfter: number
  readonly limit: number
}

/** A client that repeats a call does so at once. After this time a call begins with the newest rows again. */
const CURSOR_MS_MAX = 60_000

/**
 * Retries transactions that would be due late, newest first. Each call reads a bounded number of rows for a bounded
 * time. DTM's API has no cursor for this route, so this class remembers the row at which a call stopped, and the next
 * call goes on from there. So a client that repeats the call while `hasRemaining` is true reaches every row. Another
 * node, or a new process, begins with the newest row.
 */
export class CronTimeReset {
  readonly #engine: Pick<EngineApi, 'list' | 'retry'>
  readonly #now: () => number
  #stopped: { readonly at: ListCursor; readonly since: number } | undefined

  /** `now` returns the milliseconds of a clock that only goes forward. */
  constructor(engine: Pick<EngineApi, 'list' | 'retry'>, now: () => number = () => performance.now()) {
    this.#engine = engine
    this.#now = now
  }

  /** Retries one part of the rows. The caller must wait for it to end before it calls again. */
  async run({ dueAfter, limit }: ResetQuery): Promise<ResetCount> {
    const until = this.#now() + LIST_MS_MAX
    const countMax = Math.min(limit, LIST_ROWS_MAX)
    let cursor = this.#takeCursor()
    let count = 0
    for (let lists = 0; lists < LISTS_PER_ANSWER_MAX && this.#now() < until; lists++) {
      const page = await this.#engine.list({
        limit: LIST_PAGE,
        status: UNFINISHED_STATUSES,
        ...(cursor === undefined ? {} : { cursor }),
      })
      for (const { gid, dueAt, createdAt } of page.items) {
        if (dueAt > dueAfter) {
          if (count >= countMax) return { hasRemaining: true, count }
          if (this.#now() >= until) return this.#stop(cursor, count)
          // A transaction that has ended since it was listed needs no retry and is not counted.
          if ((await callAtOnce(gid as Gid, this.#engine)) === 'called') count++
        }
        cursor = { at: createdAt, gid: gid as Gid }
      }
      cursor = page.cursor
      if (cursor === undefined) return { hasRemaining: false, count }
    }
    return this.#stop(cursor, count)
  }

  #stop(at: ListCursor | undefined, count: number): ResetCount {
    this.#stopped = at === undefined ? undefined : { at, since: this.#now() }
    return { hasRemaining: true, count }
  }

  #takeCursor(): ListCursor | undefined {
    const stopped = this.#stopped
    this.#stopped = undefined
    return stopped !== undefined && this.#now() - stopped.since < CURSOR_MS_MAX ? stopped.at : undefined
  }
}
