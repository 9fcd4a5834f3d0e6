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
/** One of so many is retried by a bulk job first, and its operator waits for the end of the job. */
const OPERATED_PER_BULK = 5

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
  const inBulk = plans.slice(0, Math.ceil(plans.length / OPERATED_PER_BULK))
  const submits = plans.map(async ({ plan }, index) => {
    // A job whose server was killed goes on half a minute later, so what it is about comes first.
    await pace.untilProgress(Math.max(0, (index - inBulk.length) / plans.length) * SUBMITTED_BY)
    await client.submit(plan)
    onAccepted()
  })
  const retryAll = async (): Promise<readonly BulkView[]> => {
    await Promise.all(submits.slice(0, inBulk.length))
    return [await runBulkRetry({ urls, random, gids: inBulk.map(({ plan }) => plan.request.gid) })]
  }
  const bulk = inBulk.length === 0 ? Promise.resolve([]) : retryAll()
  const series = plans.map(async ({ plan, startAfterMs, commands }, index) => {
    await submits[index]
    await delay(startAfterMs)
    if (index < inBulk.length) await bulk
    await operator.giveAll(plan.request.gid, commands)
  })
  return {
    submitted: Promise.all(submits).then(() => undefined),
    left: Promise.all(series).then(() => bulk),
  }
}
