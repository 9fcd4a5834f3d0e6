import {
  type AlertFilter,
  type AlertObservation,
  type AlertSample,
  type DueAlert,
  type FilteredSample,
  type ListCursor,
  type ListQuery,
  PAUSED_MS_MAX,
  type RowGroup,
  UNFINISHED_MS_MAX,
} from '@counterstep/core'
import { ALERT_NAME, type BulkView, type TransactionSummary } from '@counterstep/protocol'
import type { BulkApi } from '../bulk/bulk-jobs.ts'
import type { EngineApi } from '../engine-api.ts'
import type { Figures } from '../statistics/figures.ts'
import type { StoreEventMemory } from './store-event-memory.ts'

/** Things that change by the hour are looked at this often, since they cost the store scans. */
const SLOW_EVERY_MS = 60_000
const ROWS_MAX = 100
const SAMPLES_MAX = 50
const JOBS_MAX = 20
/** A row that is due later than this rests by its own plan, unless it has a problem. A running one is due when its lease ends. */
const RESTS_AFTER_MS = 60_000
const HOUR_MS = 3_600_000
/** The limiter of reads takes turns between callers of different names. */
const CALLER = 'alerts'

export interface AlertEyesParts {
  readonly figures: Pick<Figures, 'readStats' | 'countEnded'>
  readonly list: EngineApi['list']
  readonly bulk: Pick<BulkApi, 'list' | 'show'>
  readonly storeEvents: StoreEventMemory
}

type Slow = Pick<AlertObservation, 'unfinished' | 'paused' | 'bulkJobs'>

/** Reads what alerts are decided from. */
export class AlertEyes {
  readonly #parts: AlertEyesParts
  #slow: Slow = { bulkJobs: [] }
  #slowAt = Number.NEGATIVE_INFINITY
  /** How far the rows of a filter were read, by its target and name. */
  readonly #filtered = new Map<string, ListCursor>()

  constructor(parts: AlertEyesParts) {
    this.#parts = parts
  }

  /** Returns undefined while the store does not answer. */
  async observe(): Promise<AlertObservation | undefined> {
    const { figures, storeEvents } = this.#parts
    const stats = await figures.readStats()
    if (stats === undefined) return undefined
    const { now, problems, oldestDueAt, oldestUnfinishedAt, paused } = stats
    if (now - this.#slowAt >= SLOW_EVERY_MS) {
      const isOld = oldestUnfinishedAt !== undefined && now - oldestUnfinishedAt > UNFINISHED_MS_MAX
      this.#slow = {
        ...group('unfinished', isOld ? await this.#listUnfinished(now) : []),
        ...group('paused', paused > 0 ? await this.#listPaused(now) : []),
        bulkJobs: await this.#readJobs(now),
      }
      this.#slowAt = now
    }
    return {
      ...{ now, problems, names: figures.countEnded(), storeEvents: storeEvents.list() },
      ...(oldestDueAt === undefined ? {} : { oldestDueAt }),
      ...this.#slow,
    }
  }

  /** Finds some of the transactions that an alert is about. */
  async findSamples({ rule, state, problem }: DueAlert, now: number): Promise<readonly AlertSample[]> {
    if (state === 'over') return []
    switch (rule) {
      case 'attention':
        return await this.#list({ problem, attention: true, order: 'due', limit: SAMPLES_MAX })
      case 'failed':
        return await this.#list({
          ...{ name: problem, status: ['failed'], createdFrom: now - HOUR_MS, limit: SAMPLES_MAX },
        })
      case 'stuck':
        return problem === 'overdue'
          ? await this.#list({ order: 'due', limit: SAMPLES_MAX })
          : await this.#listUnfinished(now)
      case 'paused':
        return await this.#listPaused(now)
      case 'store':
      case 'bulk':
        return []
    }
  }

  /** Finds transactions that need a person and that a filter asks for: those of the next page, and of the first behind the last. */
  async findFiltered({ target, name, tags }: AlertFilter): Promise<readonly FilteredSample[]> {
    const key = JSON.stringify([target.name, name])
    const from = this.#filtered.get(key)
    const { items, cursor } = await this.#parts.list(
      {
        ...{ attention: true, order: 'due', limit: SAMPLES_MAX },
        ...(name === undefined ? {} : { name }),
        ...(tags === undefined ? {} : { tags }),
        ...(from === undefined ? {} : { cursor: from }),
      },
      CALLER,
    )
    if (cursor === undefined) this.#filtered.delete(key)
    else this.#filtered.set(key, cursor)
    return items
  }

  async #listUnfinished(now: number): Promise<readonly TransactionSummary[]> {
    const old = await this.#list({ order: 'due', createdTo: now - UNFINISHED_MS_MAX, limit: ROWS_MAX })
    return old.filter(
      ({ paused, problem, dueAt }) =>
        paused !== true && (problem !== undefined || dueAt <= now + RESTS_AFTER_MS),
    )
  }

  /** A paused row is not saved again until someone gives it a command. */
  async #listPaused(now: number): Promise<readonly TransactionSummary[]> {
    const paused = await this.#list({ marks: ['paused'], order: 'due-last', limit: ROWS_MAX })
    return paused.filter(({ updatedAt }) => now - updatedAt > PAUSED_MS_MAX)
  }

  /** Alerts are left out: none of them is about another. */
  async #list(query: ListQuery): Promise<readonly TransactionSummary[]> {
    const { items } = await this.#parts.list(query, CALLER)
    return items.filter(({ name }) => name !== ALERT_NAME)
  }

  /** The refusals of a job are read only when it has just ended. */
  async #readJobs(now: number): Promise<AlertObservation['bulkJobs']> {
    const { bulk } = this.#parts
    const recent = (await bulk.list())
      .filter(
        ({ state, stateSince }) => (state === 'done' || state === 'paused') && now - stateSince < HOUR_MS,
      )
      .slice(0, JOBS_MAX)
    const shown: BulkView[] = []
    for (const { id } of recent) shown.push(await bulk.show(id))
    return shown.map(({ id, state, stateSince, pausedBy, counts }) => ({
      ...{ id, state, stateSince, refused: counts?.refused ?? 0 },
      ...(pausedBy === undefined ? {} : { pausedBy }),
    }))
  }
}

function group<Name extends string>(
  name: Name,
  rows: readonly TransactionSummary[],
): { readonly [Key in Name]?: RowGroup } {
  if (rows.length === 0) return {}
  const since = Math.min(
    ...rows.map(({ createdAt, updatedAt }) => (name === 'paused' ? updatedAt : createdAt)),
  )
  // The type is right, since the only key is the name.
  return { [name]: { count: rows.length, since } } as { readonly [Key in Name]?: RowGroup }
}
