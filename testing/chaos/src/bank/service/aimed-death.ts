import { AsyncLocalStorage } from 'node:async_hooks'
import { appendFileSync, existsSync } from 'node:fs'
import type { Barrier } from '@counterstep/sdk'

/** Where the process of a bank may be told to die in a plan call of a workflow. */
export const DEATH_POINTS = ['between-commits', 'before-answer'] as const
export type DeathPoint = (typeof DEATH_POINTS)[number]

export interface DeathOrder {
  readonly point: DeathPoint
  /** At least so many steps have committed within the plan call. */
  readonly commits: number
}

/** A death at its point, as the process writes it down just before. */
export interface Death {
  readonly point: DeathPoint
  readonly gid: string
  /** The slots whose steps had committed within the plan call. */
  readonly slots: readonly string[]
}

interface PlanCallSeen {
  readonly gid: string
  readonly slots: string[]
}

/**
 * Kills its own process, once it is armed: in the next plan call that has run enough local steps, before the next one begins or
 * before the call is answered. Nothing of it is in the orchestrator or the SDK.
 */
export class AimedDeath {
  /** An earlier life of this process has had the same file. */
  readonly hasLivedBefore: boolean
  readonly #file: string
  readonly #calls = new AsyncLocalStorage<PlanCallSeen>()
  #armed: DeathOrder | undefined

  constructor(file: string) {
    this.#file = file
    this.hasLivedBefore = existsSync(file)
    appendFileSync(file, '')
  }

  arm(order: DeathOrder): void {
    this.#armed = order
  }

  /** Runs what serves one call, and notes the steps that commit within it if it is a plan call. */
  watchCall<Served>(url: string, serve: () => Served): Served {
    const query = new URL(url, 'http://bank').searchParams
    if (query.get('op') !== 'plan') return serve()
    return this.#calls.run({ gid: query.get('gid') ?? '', slots: [] }, serve)
  }

  watchBarrier<Tx>({ run }: Barrier<Tx>): Barrier<Tx> {
    return {
      run: async (call, effect) => {
        this.#reach('between-commits')
        const outcome = await run(call, effect)
        if (outcome.decision === 'run') this.#calls.getStore()?.slots.push(call.branchId)
        return outcome
      },
    }
  }

  /** The answer of a call is ready, and is not sent yet. */
  beforeAnswer(): void {
    this.#reach('before-answer')
  }

  #reach(point: DeathPoint): void {
    const seen = this.#calls.getStore()
    if (seen === undefined || this.#armed?.point !== point || seen.slots.length < this.#armed.commits) return
    const death: Death = { point, ...seen }
    appendFileSync(this.#file, `${JSON.stringify(death)}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
}
