/**
 * The client of a recorded workflow. Each run of its program begins anew, skips the steps that are reported, and may die at any
 * point. Then only a callback begins the next run. Two runs may be under way at once.
 */
import type { RecordedEnd, StepRecord } from '@counterstep/core'
import type { BranchId } from '@counterstep/protocol'
import type { RecordedLog } from '../audit/prepared-log.ts'
import type { PreparedParticipants } from '../branches/prepared-participant.ts'
import { isStatus } from '../nodes/reply.ts'
import { readRecord } from '../world/read-record.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { Asking } from './ask-node.ts'
import { PreparedClient } from './prepared-client.ts'
import type { RecordedPlan } from './prepared-plan.ts'

const COMMAND_TRIES = 4
const DIES = 0.12
const STEP_MS_MAX = 60

export interface RecordedParts {
  readonly asking: Asking
  readonly store: SimStore
  readonly participants: PreparedParticipants
}

export class RecordedClient {
  readonly #parts: RecordedParts
  readonly #plan: RecordedPlan
  readonly #log: RecordedLog
  #runs = 0

  constructor(parts: RecordedParts, plan: RecordedPlan, log: RecordedLog) {
    this.#parts = parts
    this.#plan = plan
    this.#log = log
  }

  start(atMs: number): void {
    const { asking, participants } = this.#parts
    participants.serveCallback(this.#plan, () => this.#run())
    const first = new PreparedClient(asking, this.#plan)
    first.later(atMs, () =>
      first.prepare(() => {
        first.meddle()
        this.#run()
      }),
    )
  }

  /** Begins a run. It asks first what is reported, as DTM's client does. */
  #run(): void {
    const row = this.#parts.store.read(this.#plan.gid)
    const recorded = row === undefined ? undefined : readRecord(row)
    if (recorded?.kind !== 'recorded' || recorded.status !== 'prepared') return
    const run = { number: ++this.#runs, client: new PreparedClient(this.#parts.asking, this.#plan) }
    const reported = new Set<string>(recorded.records.map(({ branchId }) => branchId))
    this.#step(run, reported, 0)
  }

  #step(run: ProgramRun, reported: ReadonlySet<string>, step: number): void {
    const { steps, failsAt } = this.#plan
    if (step === steps) {
      this.#end(run, { status: 'succeeded', result: `run ${run.number}` })
      return
    }
    const goOn = () => {
      if (step === failsAt) this.#end(run, { status: 'failed', reason: `run ${run.number}` })
      else this.#step(run, reported, step + 1)
    }
    const record = buildRecord(step, step === failsAt)
    if (reported.has(record.branchId)) {
      goOn()
      return
    }
    const { world, gid } = this.#parts.asking
    run.client.later(world.getRandom(gid).between(0, STEP_MS_MAX), () => {
      if (this.#mayDie(run)) return
      this.#report(run, record, goOn)
    })
  }

  #report({ client }: ProgramRun, record: StepRecord, goOn: () => void): void {
    const { world } = this.#parts.asking
    if (this.#log.reportedAt.has(record.branchId)) world.counters.reportsRepeated++
    else this.#log.reportedAt.set(record.branchId, world.storeNow)
    client.command({ type: 'record-asked', record }, COMMAND_TRIES, (answer) => {
      // Without an answer the run cannot go on. The next one finds what was stored.
      if (answer === 'none' || !isStatus(answer)) return
      this.#log.acknowledged.add(record.branchId)
      goOn()
    })
  }

  #end(run: ProgramRun, end: RecordedEnd): void {
    if (this.#mayDie(run)) return
    this.#log.endsAsked.push(end)
    run.client.command({ type: 'end-asked', end }, COMMAND_TRIES, () => undefined)
  }

  #mayDie({ client }: ProgramRun): boolean {
    return !this.#parts.asking.world.isHealed && client.mayDie(DIES)
  }
}

interface ProgramRun {
  readonly number: number
  readonly client: PreparedClient
}

function buildRecord(step: number, fails: boolean): StepRecord {
  return {
    branchId: `b${step}` as BranchId,
    op: 'action',
    status: fails ? 'failed' : 'succeeded',
    data: `${step}`,
  }
}
