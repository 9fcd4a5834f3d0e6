/** The same healthy callers with and without poison beside them, round by round, each against a server of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RetryPolicy, SagaSubmitRequest, TransactionView } from '@counterstep/protocol'
import { Api } from '../hostile/api.ts'
import { BranchService } from './branch-service.ts'
import { Orchestrator } from './orchestrator.ts'
import { quantile } from './quantile.ts'
import { Submitter } from './submitter.ts'

/** How a compensation fails: refused, in error, reset, or never answered. */
const FAILURE_KINDS = ['refuse', 'error', 'reset', 'hang'] as const

/** The delays are short, so that ten failed attempts, after which a person must look, are over within seconds. */
const RETRY: Partial<RetryPolicy> = { initialMs: 50, factor: 1.5, capMs: 1_000 }
const HANG_TIMEOUT_MS = 200

export interface PoisonSettings {
  /** Each submits its next saga when its last one has ended. */
  readonly healthyCallers: number
  /** Rounds of each sort. */
  readonly rounds: number
  readonly roundSeconds: number
}

export interface PoisonRound {
  readonly healthyPerSecond: number
  readonly healthyP99Ms: number
  readonly poison: number
  /** Healthy ones that did not succeed. */
  readonly notSucceeded: number
  /** Poison sagas that had not been marked for attention when the round was over. */
  readonly withoutAttention: number
  /** Poison sagas that were not undone when a person had asked for one more try and their compensations succeeded. */
  readonly notUndone: number
}

export interface PoisonReport {
  readonly without: readonly PoisonRound[]
  readonly beside: readonly PoisonRound[]
}

const BRANCH_MS = 50
/** Every tenth saga is poison. */
const HEALTHY_PER_POISON = 9
/** One for what it waits for, one for the poison. */
const CONNECTIONS_PER_CALLER = 2
const WAIT_SECONDS = 30
const POLL_EVERY_MS = 100
/** Tells stuck from slow. */
const STUCK_MS = 60_000

export async function runPoison(settings: PoisonSettings): Promise<PoisonReport> {
  const without: PoisonRound[] = []
  const beside: PoisonRound[] = []
  for (let round = 0; round < settings.rounds; round++) {
    // The two take turns, so that neither is always the second.
    const order = round % 2 === 0 ? [without, beside] : [beside, without]
    for (const results of order) results.push(await runRound(results === beside, settings))
  }
  return { without, beside }
}

async function runRound(isPoisoned: boolean, settings: PoisonSettings): Promise<PoisonRound> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'counterstep-poison-'))
  const branches = await BranchService.start(BRANCH_MS)
  try {
    const orchestrator = await Orchestrator.start({ dataFolder, flags: { 'log-level': 'error' } })
    try {
      return await new Round(branches, orchestrator, settings).run(isPoisoned)
    } finally {
      await orchestrator.stop()
    }
  } finally {
    await branches.stop()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

class Round {
  readonly #branches: BranchService
  readonly #submitter: Submitter
  readonly #api: Api
  readonly #settings: PoisonSettings
  readonly #poison: string[] = []
  readonly #poisonings: Promise<void>[] = []
  readonly #latenciesMs: number[] = []
  #healthy = 0
  #notSucceeded = 0

  constructor(branches: BranchService, orchestrator: Orchestrator, settings: PoisonSettings) {
    this.#settings = settings
    this.#branches = branches
    this.#submitter = new Submitter(orchestrator, settings.healthyCallers * CONNECTIONS_PER_CALLER)
    this.#api = new Api(orchestrator)
  }

  async run(isPoisoned: boolean): Promise<PoisonRound> {
    const { healthyCallers, roundSeconds } = this.#settings
    const startedAt = performance.now()
    const endAt = startedAt + roundSeconds * 1_000
    await Promise.all(Array.from({ length: healthyCallers }, () => this.#callUntil(endAt, isPoisoned)))
    const seconds = (performance.now() - startedAt) / 1_000
    await Promise.all(this.#poisonings)
    const withoutAttention = await this.#unseen()
    await this.#branches.heal()
    const notUndone = await this.#retryByHand()
    await this.#submitter.close()
    await this.#api.close()
    return {
      healthyPerSecond: this.#latenciesMs.length / seconds,
      healthyP99Ms: quantile(this.#latenciesMs, 0.99) ?? 0,
      poison: this.#poison.length,
      notSucceeded: this.#notSucceeded,
      withoutAttention,
      notUndone,
    }
  }

  async #callUntil(endAt: number, isPoisoned: boolean): Promise<void> {
    while (performance.now() < endAt) {
      const index = this.#healthy++
      // The poison is submitted beside it: a healthy caller does not wait for the poison of others.
      if (isPoisoned && index % HEALTHY_PER_POISON === 0) this.#poisonings.push(this.#submitPoison(index))
      const url = this.#branches.url
      const [action, second, compensation] = [`${url}/first`, `${url}/second`, `${url}/undone`]
      const saga = {
        gid: `healthy-${index}`,
        branches: [
          { action, compensation },
          { action: second, compensation },
        ],
      }
      const { status, intendedAt, endedAt } = await this.#submitter.submit(
        saga,
        performance.now(),
        WAIT_SECONDS,
      )
      this.#latenciesMs.push(endedAt - intendedAt)
      if (status !== 'succeeded') this.#notSucceeded += 1
    }
  }

  async #submitPoison(index: number): Promise<void> {
    const saga = poisonSaga(index / HEALTHY_PER_POISON, this.#branches.url)
    const { statusCode, code } = await this.#submitter.submit(saga, performance.now(), 0)
    if (statusCode !== 202) throw new Error(`poison was not accepted: ${statusCode} ${code}`)
    this.#poison.push(saga.gid)
  }

  /** Waits until each is marked for attention; counts those that were not in time. */
  async #unseen(): Promise<number> {
    return await this.#without((view) => view.attention !== undefined && view.status === 'aborting')
  }

  async #retryByHand(): Promise<number> {
    for (const gid of this.#poison) {
      const { status } = await this.#api.post(`/v1/transactions/${gid}/retry`)
      // 200 and 409: its own next attempt came first.
      if (status !== 202 && status !== 200 && status !== 409) throw new Error(`retry answered ${status}`)
    }
    return await this.#without(({ status }) => status === 'failed')
  }

  async #without(holds: (view: TransactionView) => boolean): Promise<number> {
    const end = performance.now() + STUCK_MS
    let left: readonly string[] = this.#poison
    while (left.length > 0 && performance.now() < end) {
      const still: string[] = []
      for (const gid of left) if (!holds(await this.#api.view(`/v1/transactions/${gid}`))) still.push(gid)
      left = still
      if (left.length > 0) await sleep(POLL_EVERY_MS)
    }
    return left.length
  }
}

/** Its second branch refuses, and what the first one did cannot be undone. */
function poisonSaga(index: number, url: string): SagaSubmitRequest & { readonly gid: string } {
  const kind = FAILURE_KINDS[index % FAILURE_KINDS.length] ?? FAILURE_KINDS[0]
  return {
    gid: `poison-${index}`,
    retry: RETRY,
    branches: [
      { action: `${url}/first`, compensation: `${url}/undo/${kind}`, timeoutMs: HANG_TIMEOUT_MS },
      { action: `${url}/refuse` },
    ],
  }
}
