import { setTimeout as delay } from 'node:timers/promises'
import type { BulkView } from '@counterstep/protocol'
import type { Client } from '../clients/client.ts'
import type { Pace } from '../nemesis/pace.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { runBulkRetry } from './bulk-retry.ts'
import type { Operator } from './operator.ts'
import type { OperatedPlan } from './plan-commands.ts'

/** One of so many transactions waits for an operator. */
const SAGAS_PER_OPERATED = 40
/** All of them are there by then, so that what they wait for comes in the time of the faults. */
const SUBMITTED_BY = 0.4
/** A job whose server was killed goes on half a minute later, so it begins early. */
const BULK_AT = 0.15

export function countOperated(sagas: number): number {
  return Math.ceil(sagas / SAGAS_PER_OPERATED)
}

export interface OperatorsRun {
  readonly plans: readonly OperatedPlan[]
  readonly client: Client
  readonly operator: Operator
  readonly pace: Pace
  readonly urls: readonly string[]
  readonly random: SeededRandom
  readonly onAccepted: () => void
}

/** `submitted`: all that waits for an operator is there; `left`: each command has its answer, and the bulk job has ended. */
export function runOperators({ plans, client, operator, pace, urls, random, onAccepted }: OperatorsRun): {
  readonly submitted: Promise<void>
  readonly left: Promise<readonly BulkView[]>
} {
  const accepted: string[] = []
  const waiting = new Set<string>()
  const submits = plans.map(async ({ plan }, index) => {
    await pace.untilProgress((index / plans.length) * SUBMITTED_BY)
    await client.submit(plan)
    accepted.push(plan.request.gid)
    waiting.add(plan.request.gid)
    onAccepted()
  })
  const series = plans.map(async ({ plan, startAfterMs, commands }, index) => {
    await submits[index]
    await delay(startAfterMs)
    await operator.giveAll(plan.request.gid, commands)
    waiting.delete(plan.request.gid)
  })
  const retryAll = async (): Promise<readonly BulkView[]> => {
    await submits[0]
    await pace.untilProgress(BULK_AT)
    // In a run of a few transactions it may be that none waits, and the job is refused by all.
    const gids = waiting.size === 0 ? accepted : waiting
    return [await runBulkRetry({ urls, random, gids: [...gids] })]
  }
  const bulk = plans.length === 0 ? Promise.resolve([]) : retryAll()
  return {
    submitted: Promise.all(submits).then(() => undefined),
    left: Promise.all(series).then(() => bulk),
  }
}
