/**
 * Looks for what there is to tell, and tells it by transactions. Every node has one. All of them see about the same; the one
 * whose write of the shared document is taken decides, and what it decided stands in the document until it is submitted. If
 * it dies on the way, another node submits it, with the same gid and the same content, which is one transaction.
 */
import { hash } from 'node:crypto'
import {
  ALERT_KEPT_MS,
  type AlertFinding,
  type BranchCaller,
  type Clock,
  findAlerts,
  foldAlerts,
  type Ids,
  listLateFilters,
  type PendingAlert,
  queueAlert,
  queueDigests,
  queueLateAlerts,
  type Store,
  StoreUnavailableError,
} from '@counterstep/core'
import {
  ALERT_NAME,
  ALERT_SAMPLES_MAX,
  type AlertFacts,
  type Gid,
  isCounterstepError,
} from '@counterstep/protocol'
import type { EngineApi } from '../engine-api.ts'
import type { EngineObserver } from '../observer.ts'
import { within } from '../until-definite.ts'
import { AlertDocument, type StoredAlerts } from './alert-document.ts'
import { AlertEyes, type AlertEyesParts } from './alert-eyes.ts'
import { type AlertOptions, listAlertServices } from './alert-options.ts'
import { buildAlertMessage } from './build-alert-message.ts'
import { postStoreAlert } from './post-store-alert.ts'

export const LOOK_EVERY_MS = 10_000
/** A look that lasts longer is as if the store did not answer. It goes on, and no other one begins before its end. */
const LOOK_MS_MAX = 30_000
/** A store that has not answered for so long is told by each node by itself, once, and not again within an hour. */
const AWAY_AFTER_MS = 60_000
/** A process that was stopped meanwhile finds one look unanswered. */
const UNANSWERED_MIN = 2
const AWAY_EVERY_MS = 3_600_000
const UNDELIVERED_EVERY_MS = 600_000
const UNDELIVERED_MAX = 50
/** So many filters are read in a look, each by one list of the store. */
const FILTERS_MAX = 5
const HASH_LENGTH = 16

export interface AlertWatcherParts extends Pick<AlertEyesParts, 'figures' | 'list' | 'bulk'> {
  readonly options: AlertOptions
  readonly store: Store
  readonly branches: BranchCaller
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly accept: EngineApi['accept']
  readonly stop: EngineApi['stop']
  readonly readEpochMs: () => number
}

export class AlertWatcher {
  readonly #parts: AlertWatcherParts
  readonly #document: AlertDocument
  readonly #eyes: AlertEyes
  readonly #services: ReadonlySet<string>
  #cancel: () => void = () => undefined
  #stopped = false
  #awaySince: number | undefined
  #unanswered = 0
  #toldAwayAt = Number.NEGATIVE_INFINITY
  #undeliveredAt = Number.NEGATIVE_INFINITY
  #filtersRead = 0

  constructor(parts: AlertWatcherParts) {
    const { store, ids, options } = parts
    this.#parts = parts
    this.#document = new AlertDocument(store, ids)
    this.#eyes = new AlertEyes({ ...parts, storeEvents: options.storeEvents })
    this.#services = listAlertServices(options)
  }

  start(): void {
    this.#lookLater()
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  #lookLater(): void {
    if (!this.#stopped) this.#cancel = this.#parts.clock.after(LOOK_EVERY_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    const { clock } = this.#parts
    const startedAt = clock.now()
    const look = this.#lookOnce()
    let hasAnswered: boolean | undefined
    do {
      hasAnswered = await within(clock, LOOK_MS_MAX, look)
      if (hasAnswered === true) this.#noteAnswer()
      else await this.#noteAway(startedAt)
    } while (hasAnswered === undefined && !this.#stopped)
    this.#lookLater()
  }

  /** Returns whether the store has answered. */
  async #lookOnce(): Promise<boolean> {
    try {
      const stored = await this.#document.read()
      if (stored !== undefined) await this.#decide(stored)
      await this.#stopUndelivered()
      return true
    } catch (error: unknown) {
      if (isOfStore(error)) return false
      // A bug, or no turn for a read. No transaction suffers from it, and the next look may do better.
      const level = isCounterstepError(error) ? 'warn' : 'error'
      this.#parts.observer.event({ level, name: 'alert-failed', error })
      return true
    }
  }

  async #decide(stored: StoredAlerts): Promise<void> {
    const { failedShare, targets } = this.#parts.options
    const seen = await this.#eyes.observe()
    if (seen === undefined) throw new StoreUnavailableError('no figures', { applied: 'no' })
    const { now } = seen
    const findings = findAlerts(seen, { failedShare, services: this.#services })
    const folded = foldAlerts(stored.state, findings, now)
    let state = queueDigests(folded.state, now, hashText)
    for (const due of folded.due) {
      const samples = await this.#eyes.findSamples(due, now)
      const how = { now, hash: hashText, shownMax: ALERT_SAMPLES_MAX }
      state = queueAlert(state, due, samples, targets, how)
    }
    const written = await this.#document.write(state, stored)
    // Another node has decided meanwhile. What it has not told by the next look is told then.
    const submitted = written && (await this.#submitPending(written))
    if (submitted !== undefined) await this.#tellLate(submitted, findings, now)
  }

  /** Tells targets of what their filters meet now, by a few of the filters at each look. */
  async #tellLate(stored: StoredAlerts, findings: readonly AlertFinding[], now: number): Promise<void> {
    const filters = listLateFilters(stored.state, this.#parts.options.targets, now)
    let { state } = stored
    for (let each = 0; each < Math.min(filters.length, FILTERS_MAX); each++) {
      const filter = filters[this.#filtersRead++ % filters.length]
      if (filter === undefined) break
      const samples = await this.#eyes.findFiltered(filter)
      const how = { now, hash: hashText, shownMax: ALERT_SAMPLES_MAX }
      state = queueLateAlerts(state, filter, samples, findings, how)
    }
    const written = await this.#document.write(state, stored)
    if (written !== undefined) await this.#submitPending(written)
  }

  /**
   * If the process dies before the second write, the alerts are submitted again, which changes nothing. Returns undefined if
   * another node has written meanwhile.
   */
  async #submitPending(written: StoredAlerts): Promise<StoredAlerts | undefined> {
    const { pending } = written.state
    const left: PendingAlert[] = []
    for (const alert of pending) if (!(await this.#submit(alert))) left.push(alert)
    return await this.#document.write({ ...written.state, pending: left }, written)
  }

  /** Returns whether there is nothing left to do for it. */
  async #submit(alert: PendingAlert): Promise<boolean> {
    const { accept, observer, options } = this.#parts
    const message = buildAlertMessage(alert, options.targets)
    if (message === undefined) return true
    try {
      await accept(message)
      const { rule, state, problem, count } = alert
      observer.event({
        level: 'info',
        name: 'alert-sent',
        gid: message.gid,
        detail: `${rule} ${state}: ${problem} (${count})`,
        fields: { targets: alert.targets.join(',') },
      })
      return true
    } catch (error: unknown) {
      if (!isCounterstepError(error)) throw error
      // A window has one alert of each thing, so the transaction of this gid has told it, in other words perhaps.
      if (error.code === 'SAGA_GID_CONFLICT') return true
      // It stays in the document, and the next look of any node tries it again.
      observer.event({ level: 'warn', name: 'alert-failed', gid: message.gid, error })
      return false
    }
  }

  /** An alert that a target did not take for a day is of no use any more. */
  async #stopUndelivered(): Promise<void> {
    const { clock, list, stop, observer, readEpochMs } = this.#parts
    if (clock.now() - this.#undeliveredAt < UNDELIVERED_EVERY_MS) return
    this.#undeliveredAt = clock.now()
    const { items } = await list({
      ...{ name: ALERT_NAME, order: 'due', limit: UNDELIVERED_MAX },
      createdTo: readEpochMs() - ALERT_KEPT_MS,
    })
    for (const { gid } of items) {
      try {
        await stop(gid as Gid, { by: { via: 'local' }, reason: 'the alert was not delivered for 24 hours' })
        observer.event({ level: 'error', name: 'alert-undelivered', gid: gid as Gid })
      } catch (error: unknown) {
        // Another node has stopped it, or it has been delivered meanwhile.
        if (!isCounterstepError(error) || error.code !== 'SAGA_ALREADY_FINAL') throw error
      }
    }
  }

  #noteAnswer(): void {
    this.#awaySince = undefined
    this.#unanswered = 0
  }

  async #noteAway(unansweredAt: number): Promise<void> {
    const { clock, readEpochMs, options, observer } = this.#parts
    const now = clock.now()
    this.#awaySince ??= unansweredAt
    this.#unanswered++
    const isTold = now - this.#toldAwayAt < AWAY_EVERY_MS
    const isAway = this.#unanswered >= UNANSWERED_MIN && now - this.#awaySince >= AWAY_AFTER_MS
    if (this.#stopped || isTold || !isAway) return
    this.#toldAwayAt = now
    const since = Math.round(readEpochMs() - (now - this.#awaySince))
    const facts: AlertFacts = {
      ...{ rule: 'store', state: 'open', problem: 'store-does-not-answer', count: 1, since },
      ...{ names: [], sampleGids: [] },
    }
    const gid = `alert-store-${hashText(facts.problem)}-${Math.floor(since / AWAY_EVERY_MS)}`
    const how = { ...this.#parts, isStopped: () => this.#stopped }
    const told = options.targets.filter(({ rules }) => rules.includes('store'))
    if (!(await postStoreAlert(how, told, gid, facts)))
      observer.event({
        level: 'warn',
        name: 'alert-failed',
        detail: 'not all targets know that the store is away',
      })
  }
}

/** A hash that no client can make two problems share. */
function hashText(text: string): string {
  return hash('sha256', text).slice(0, HASH_LENGTH)
}

function isOfStore(error: unknown): boolean {
  return (
    error instanceof StoreUnavailableError ||
    (isCounterstepError(error) && ['SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_CLOSED'].includes(error.code))
  )
}
