import type { NewTransaction, StoredTransaction, TransactionUpdate } from '@counterstep/core'
import { NEVER_AT, PARKED_AT } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'

type ModelRow = { -readonly [Field in keyof StoredTransaction]: StoredTransaction[Field] }

/**
 * A second, independent version of the contract for the random runs. It is a plain map that is changed in place, and it
 * shares no rule with the reference store, so that a mistake in one of the two shows.
 */
export class Model {
  readonly rows = new Map<string, ModelRow>()
  now = 1_600_000_000_000

  create(transaction: NewTransaction): string {
    const old = this.rows.get(transaction.gid)
    if (old)
      return old.writeId === transaction.writeId && old.token === transaction.token ? 'created' : 'exists'
    const { hold, ...fields } = transaction
    const waitMs = hold.type === 'owned' ? hold.leaseMs : hold.dueInMs
    const marks = { claimsWithoutProgress: 0, retrying: false, attention: false }
    const instants = { createdAt: this.now, updatedAt: this.now, dueAt: this.now + waitMs }
    this.rows.set(transaction.gid, {
      ...fields,
      ...marks,
      ...instants,
      ...{ version: 1, epoch: 1, owned: hold.type === 'owned' },
    })
    return 'created'
  }

  /** The store chooses how far the version rises. The caller then sets it by `raiseTo`. */
  update(update: TransactionUpdate): 'absent' | 'fenced' | 'conflict' | 'repeated' | 'saved' {
    const row = this.rows.get(update.gid)
    if (!row) return 'absent'
    if (row.token !== update.token) return 'fenced'
    if (row.writeId === update.writeId) return 'repeated'
    if (row.version !== update.version || this.#isFinal(row)) return 'conflict'
    const { gid: _gid, token: _token, version: _version, hold, ...fields } = update
    for (const field of ['problem', 'attempts', 'marks'] as const) delete row[field]
    Object.assign(row, fields, { updatedAt: this.now, claimsWithoutProgress: 0 })
    if (hold.type === 'release') row.dueAt = hold.dueAt
    if (hold.type === 'finish')
      row.dueAt = hold.retentionMs === 'never' ? NEVER_AT : this.now + hold.retentionMs
    if (hold.type === 'command' && !row.owned) row.dueAt = hold.dueAt ?? this.now
    if (hold.type === 'release' || hold.type === 'finish') row.owned = false
    return 'saved'
  }

  raiseTo(gid: string, version: number): void {
    const row = this.rows.get(gid)
    if (row) row.version = version
  }

  claim(gid: string, token: string, leaseMs: number): string {
    const row = this.rows.get(gid)
    if (!row) return 'absent'
    if (this.#isFinal(row)) return 'final'
    if (row.dueAt === PARKED_AT) return 'parked'
    if (row.owned && this.now < row.dueAt) return 'held'
    row.token = token
    row.owned = true
    row.dueAt = this.now + leaseMs
    row.sentList = row.sentList === 'released' ? 'held' : 'unknown'
    row.epoch++
    row.claimsWithoutProgress++
    return 'claimed'
  }

  /** Finds the due rows and their due times. */
  findDue(now: number): Map<string, number> {
    const due = [...this.rows.values()].filter((row) => !this.#isFinal(row) && row.dueAt <= now)
    return new Map(due.map((row) => [row.gid, row.dueAt]))
  }

  postpone(gid: string, byMs: number): void {
    const row = this.rows.get(gid)
    if (row) Object.assign(row, { owned: false, dueAt: this.now + byMs })
  }

  /** Returns the present version, which a renewal does not change. */
  renew(gid: string, token: string, leaseMs: number): number | 'lost' {
    const row = this.rows.get(gid)
    if (row?.token !== token || !row.owned) return 'lost'
    row.dueAt = this.now + leaseMs
    return row.version
  }

  findPurgeable(now: number): readonly Gid[] {
    const rows = [...this.rows.values()].filter((row) => this.#isFinal(row) && row.dueAt <= now)
    return rows.map((row) => row.gid)
  }

  /** A store may void the leases when it is opened. */
  voidLease(gid: string): void {
    const row = this.rows.get(gid)
    if (row === undefined || !row.owned) return
    row.owned = false
    row.dueAt = this.now
  }

  listNewestFirst(): readonly string[] {
    const rows = [...this.rows.values()]
    return rows.sort((a, b) => b.createdAt - a.createdAt || (a.gid < b.gid ? 1 : -1)).map((row) => row.gid)
  }

  /** Counts the unfinished rows of each problem, and the paused ones. */
  countTrouble(): { readonly problems: ReadonlyMap<string, number>; readonly paused: number } {
    const live = [...this.rows.values()].filter((row) => !this.#isFinal(row))
    const texts = live.flatMap(({ problem }) => problem ?? [])
    return {
      problems: new Map(texts.map((text) => [text, texts.filter((other) => other === text).length])),
      paused: live.filter(({ marks }) => marks?.includes('paused')).length,
    }
  }

  listUnfinishedByDue(): readonly string[] {
    const rows = [...this.rows.values()].filter((row) => !this.#isFinal(row))
    return rows.sort((a, b) => a.dueAt - b.dueAt || (a.gid < b.gid ? -1 : 1)).map((row) => row.gid)
  }

  #isFinal(row: StoredTransaction): boolean {
    return ['succeeded', 'failed', 'stopped'].includes(row.status)
  }
}
