/** Transfers between two of three banks, with the third one well and with the third one hanging, round by round. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Api } from '../hostile/api.ts'
import { BranchService } from '../overload/branch-service.ts'
import { Orchestrator } from '../overload/orchestrator.ts'
import { Submitter } from '../overload/submitter.ts'

export interface HangingBankSettings {
  /** Each transfers between the first two banks, again and again. */
  readonly healthyCallers: number
  /** Rounds of each sort. */
  readonly rounds: number
  readonly roundSeconds: number
  /** Sagas that are submitted to the third bank before the round is measured. */
  readonly flood: number
  /** Flags of the server without their dashes. */
  readonly flags?: Readonly<Record<string, string | number>>
}

export interface HangingBankRound {
  readonly healthyPerSecond: number
  /** Transfers between the first two banks that did not succeed. */
  readonly healthyFailures: number
  /** Sagas with the third bank: accepted, refused for want of room, and anything else. */
  readonly accepted: number
  readonly refused: number
  readonly others: number
  /** Accepted ones that have not succeeded in time after the third bank answered again. */
  readonly unfinished: number
}

export interface HangingBankReport {
  readonly well: readonly HangingBankRound[]
  readonly hanging: readonly HangingBankRound[]
}

const BRANCH_MS = 50
const WAIT_SECONDS = 30
/** The longest that a request may ask for: nothing ends a call earlier. */
const TIMEOUT_MS = 900_000
const FLOOD_AT_ONCE = 64
/** Sagas with the third bank that go on being submitted while the round is measured, a second. */
const BESIDE_PER_SECOND = 50
/** A transaction that was given back is looked at again within 31 s, so all of them end well before this. */
const FINISH_MS_MAX = 120_000
const POLL_EVERY_MS = 500

export async function runHangingBank(settings: HangingBankSettings): Promise<HangingBankReport> {
  const well: HangingBankRound[] = []
  const hanging: HangingBankRound[] = []
  for (let round = 0; round < settings.rounds; round++) {
    // The two take turns, so that neither is always the second.
    const order = round % 2 === 0 ? [well, hanging] : [hanging, well]
    for (const results of order) results.push(await runHangingBankRound(settings, results === hanging))
  }
  return { well, hanging }
}

export async function runHangingBankRound(
  settings: HangingBankSettings,
  isHanging: boolean,
): Promise<HangingBankRound> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'counterstep-hanging-bank-'))
  const banks: BranchService[] = []
  try {
    for (const _ of '123') banks.push(await BranchService.start(BRANCH_MS))
    const flags = { 'log-level': 'error', ...settings.flags }
    const orchestrator = await Orchestrator.start({ dataFolder, flags })
    try {
      return await new Round(banks, orchestrator, settings).run(isHanging)
    } finally {
      await orchestrator.stop()
    }
  } finally {
    await Promise.all(banks.map((bank) => bank.stop()))
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

class Round {
  readonly #banks: readonly BranchService[]
  readonly #healthy: Submitter
  readonly #beside: Submitter
  readonly #api: Api
  readonly #settings: HangingBankSettings
  readonly #accepted: string[] = []
  #transfers = 0
  #healthyFailures = 0
  #submitted = 0
  #refused = 0
  #others = 0

  constructor(banks: readonly BranchService[], orchestrator: Orchestrator, settings: HangingBankSettings) {
    this.#banks = banks
    this.#settings = settings
    this.#healthy = new Submitter(orchestrator, settings.healthyCallers)
    this.#beside = new Submitter(orchestrator, FLOOD_AT_ONCE)
    this.#api = new Api(orchestrator)
  }

  async run(isHanging: boolean): Promise<HangingBankRound> {
    const { healthyCallers, roundSeconds, flood } = this.#settings
    if (isHanging) {
      await this.#banks[2]?.hang()
      await this.#flood(flood)
    }
    const startedAt = performance.now()
    const endAt = startedAt + roundSeconds * 1_000
    const beside = this.#submitBeside(endAt)
    await Promise.all(Array.from({ length: healthyCallers }, () => this.#transferUntil(endAt)))
    const seconds = (performance.now() - startedAt) / 1_000
    await beside
    await this.#banks[2]?.heal()
    const unfinished = await this.#unfinished()
    await Promise.all([this.#healthy.close(), this.#beside.close(), this.#api.close()])
    return {
      healthyPerSecond: this.#transfers / seconds,
      healthyFailures: this.#healthyFailures,
      accepted: this.#accepted.length,
      refused: this.#refused,
      others: this.#others,
      unfinished,
    }
  }

  async #transferUntil(endAt: number): Promise<void> {
    while (performance.now() < endAt) {
      const saga = this.#makeSaga(`healthy-${this.#submitted++}`, 0, 1)
      const { status } = await this.#healthy.submit(saga, performance.now(), WAIT_SECONDS)
      if (status === 'succeeded') this.#transfers++
      else this.#healthyFailures++
    }
  }

  async #flood(count: number): Promise<void> {
    for (let sent = 0; sent < count; sent += FLOOD_AT_ONCE)
      await Promise.all(Array.from({ length: FLOOD_AT_ONCE }, () => this.#submitToThird()))
  }

  async #submitBeside(endAt: number): Promise<void> {
    const submits: Promise<void>[] = []
    while (performance.now() < endAt) {
      submits.push(this.#submitToThird())
      await sleep(1_000 / BESIDE_PER_SECOND)
    }
    await Promise.all(submits)
  }

  /** Every second one calls a healthy bank first. */
  async #submitToThird(): Promise<void> {
    const number = this.#submitted++
    const saga = this.#makeSaga(`third-${number}`, number % 2 === 0 ? 0 : 2, 2)
    const { statusCode, code } = await this.#beside.submit(saga, performance.now(), 0)
    if (statusCode === 202) this.#accepted.push(saga.gid)
    else if (code === 'SAGA_TARGET_OVER_CAPACITY' || code === 'SAGA_OVER_CAPACITY') this.#refused++
    else this.#others++
  }

  #makeSaga(gid: string, from: number, to: number) {
    const makeBranch = (bank: number, path: string) => {
      const url = this.#banks[bank]?.url
      return { action: `${url}/${path}`, compensation: `${url}/undone`, timeoutMs: TIMEOUT_MS }
    }
    return { gid, branches: [makeBranch(from, 'first'), makeBranch(to, 'second')] }
  }

  async #unfinished(): Promise<number> {
    const end = performance.now() + FINISH_MS_MAX
    let left: readonly string[] = this.#accepted
    for (;;) {
      const still: string[] = []
      for (const gid of left) {
        const { status } = await this.#api.view(`/v1/transactions/${gid}`)
        if (status !== 'succeeded') still.push(gid)
      }
      left = still
      if (left.length === 0 || performance.now() > end) return left.length
      await sleep(POLL_EVERY_MS)
    }
  }
}
