import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '@counterstep/engine'
import { GATHER_MS_MAX, Gathering } from './gathering.ts'
import { KeptMetrics } from './kept-metrics.ts'
import type { ToSupervisor, ToWorker, Urls } from './messages.ts'

export interface SupervisorOptions {
  readonly processes: number
  readonly logger: Logger
  /** All workers listen for the first time. */
  readonly onReady: (urls: Urls) => void
  /** The exit code of the whole: a worker could not start, or all have stopped. */
  readonly onEnd: (code: number) => void
}

/** A worker that has not stopped by then is killed. It gives its transactions back before that, or their leases run out. */
const RETIRE_MS_MAX = 20_000
/** A new worker that does not listen by then ends a restart. */
const READY_MS_MAX = 60_000
const FIRST_WAIT_MS = 500
const WAIT_MS_MAX = 30_000
/** A worker that has run for so long had a good start, so the next one is started soon. */
const GOOD_RUN_MS = 60_000
const SIGNAL_BY_CRASH = 'SIGKILL'

class Member {
  readonly worker = cluster.fork()
  readonly startedAt = performance.now()
  state: 'starting' | 'ready' | 'leaving' = 'starting'
  /** Tells a restart whether the worker listens, or has ended before. */
  readonly ready: Promise<boolean>
  readonly ended: Promise<void>
  tellReady: (isReady: boolean) => void = () => undefined

  constructor() {
    this.ready = new Promise((resolve) => {
      this.tellReady = resolve
    })
    this.ended = new Promise((resolve) => {
      for (const event of ['exit', 'error']) this.worker.once(event, () => resolve())
    })
  }
}

/**
 * Keeps a number of workers running, which listen on the same port and have their transactions in one store. One that dies is
 * replaced. It opens no store itself and takes no request, so there is little in it that can fail.
 *
 * If this process dies, the channel to each worker breaks, and the worker ends at once. Its transactions are taken up when its
 * leases have run out, as after every crash.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #members = new Set<Member>()
  readonly #gathering = new Gathering(GATHER_MS_MAX)
  readonly #metrics = new KeptMetrics<Member>()
  #refills = 0
  #urls: Urls | undefined
  #waitMs = FIRST_WAIT_MS
  #isStopping = false
  #restarting: Promise<void> | undefined
  #isRestartWanted = false
  #exitCode = 0

  constructor(options: SupervisorOptions) {
    this.#options = options
    cluster.setupPrimary({ serialization: 'advanced' })
  }

  start(): void {
    for (let started = 0; started < this.#options.processes; started++) this.#fork()
  }

  /**
   * Replaces each worker, one after the other: first a new one listens, then the old one takes no more connections. So at
   * each moment as many listen as before. A new one that does not start ends the restart, and the old ones go on.
   */
  restart(): void {
    if (this.#isStopping) return
    this.#isRestartWanted = true
    this.#restarting ??= this.#restartAll().finally(() => {
      this.#restarting = undefined
    })
  }

  /** Stops all workers. Each gives its transactions back. */
  stop(reason: string): void {
    this.#isStopping = true
    for (const { worker } of this.#members) send(worker, { type: 'stop', reason })
    this.#endIfEmpty()
  }

  /** Ends those that have not stopped. Their transactions are taken up when their leases have run out. */
  kill(): void {
    for (const { worker } of this.#members) worker.process.kill(SIGNAL_BY_CRASH)
  }

  async #restartAll(): Promise<void> {
    const { logger } = this.#options
    while (this.#isRestartWanted && !this.#isStopping) {
      this.#isRestartWanted = false
      const old = [...this.#members].filter(({ state }) => state !== 'leaving')
      logger.info({ processes: old.length }, 'restarting one process after the other')
      for (const member of old) {
        if (this.#isStopping || !(await this.#replace(member))) return
      }
      this.#fill()
      logger.info({ processes: old.length }, 'all processes are new')
    }
  }

  /** Returns whether a new worker has taken the place. */
  async #replace(old: Member): Promise<boolean> {
    const { logger } = this.#options
    // It has ended meanwhile, and another one has its place.
    if (!this.#members.has(old)) return true
    const fresh = this.#fork()
    const tooLate = setTimeout(() => fresh.worker.process.kill(SIGNAL_BY_CRASH), READY_MS_MAX)
    const isReady = await fresh.ready
    clearTimeout(tooLate)
    if (!isReady) {
      if (!this.#isStopping) logger.error({}, 'the new process does not start, so the old ones go on')
      return false
    }
    old.state = 'leaving'
    send(old.worker, { type: 'retire' })
    const late = setTimeout(() => old.worker.process.kill(SIGNAL_BY_CRASH), RETIRE_MS_MAX)
    await old.ended
    clearTimeout(late)
    return true
  }

  #fork(): Member {
    const member = new Member()
    const { worker } = member
    this.#members.add(member)
    worker.on('message', (message: ToSupervisor) => this.#receive(member, message))
    worker.once('exit', (code: number | null, signal: string | null) =>
      this.#handleExit(member, code, signal),
    )
    // The process could not be started, so it does not exit.
    worker.once('error', (error) => {
      this.#options.logger.error({ err: error }, 'a process could not be started')
      this.#handleExit(member, null, null)
    })
    return member
  }

  #receive(member: Member, message: ToSupervisor): void {
    switch (message.type) {
      case 'ready':
        member.state = 'ready'
        member.tellReady(true)
        this.#tellIfReady(message.urls)
        break
      case 'ask-metrics':
        void this.#gatherMetrics(member.worker, message.id)
        break
      case 'metrics':
        this.#metrics.note(member, message.metrics)
        this.#gathering.take(message.id, member)
        break
      case 'last-metrics':
        this.#metrics.note(member, message.metrics)
    }
  }

  #tellIfReady(urls: Urls): void {
    if (this.#urls !== undefined) return
    const ready = [...this.#members].filter(({ state }) => state === 'ready')
    if (ready.length < this.#options.processes) return
    this.#urls = urls
    this.#options.onReady(urls)
  }

  async #gatherMetrics(asker: Worker, id: number): Promise<void> {
    const asked = [...this.#members].filter(
      ({ state, worker }) => state !== 'starting' && worker.isConnected(),
    )
    await this.#gathering.gather(asked.length, (gatheringId) => {
      for (const { worker } of asked) send(worker, { type: 'read-metrics', id: gatheringId })
    })
    send(asker, { type: 'all-metrics', id, all: await this.#metrics.readAll() })
  }

  #handleExit(member: Member, code: number | null, signal: string | null): void {
    const { logger } = this.#options
    if (!this.#members.delete(member)) return
    this.#metrics.end(member)
    member.tellReady(false)
    const isWanted = this.#isStopping || member.state === 'leaving'
    if (isWanted) {
      if (code !== 0 && this.#isStopping) this.#exitCode = 1
      this.#endIfEmpty()
      this.#fill()
      return
    }
    logger.error({ pid: member.worker.process.pid, code, signal }, 'a process has ended')
    if (this.#urls === undefined) {
      // It has said why. The others would fail as well, or run fewer than were asked for.
      this.#exitCode = 1
      this.stop('start-failed')
      return
    }
    if (performance.now() - member.startedAt > GOOD_RUN_MS) this.#waitMs = FIRST_WAIT_MS
    this.#fill()
  }

  /** Starts as many as are missing, each after a wait that grows while they end soon. A restart has one more for a moment. */
  #fill(): void {
    if (this.#isStopping || this.#urls === undefined) return
    const { processes } = this.#options
    const staying = [...this.#members].filter(({ state }) => state !== 'leaving').length
    for (let count = staying + this.#refills; count < processes; count++) {
      this.#refills++
      setTimeout(() => {
        this.#refills--
        if (!this.#isStopping) this.#fork()
      }, this.#waitMs)
      this.#waitMs = Math.min(this.#waitMs * 2, WAIT_MS_MAX)
    }
  }

  #endIfEmpty(): void {
    if (this.#isStopping && this.#members.size === 0) this.#options.onEnd(this.#exitCode)
  }
}

/** A worker whose channel is closed ends, and is heard of by that. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, undefined, () => undefined)
}
