import { CLAIM_MAX, type WakeUpQueue } from '@counterstep/core'
import { type Invocation, PURGE_ROWS_MAX, RowLimit } from '@counterstep/engine'
import type { LambdaContext } from './events.ts'
import type { FunctionParts } from './function-parts.ts'
import { buildGauges, writeEmbeddedMetrics } from './gauges.ts'

export type SweeperHandler = (event: unknown, context: LambdaContext) => Promise<void>

/** The sweeper finds a transaction again after this time if it has asked the queue for it and no worker took it up. */
export const POSTPONE_MS = 60_000
/** A database with a binary log writes each postponed row to it twice, and a row may have 1 MB. */
const POSTPONE_ROWS_MAX = 64

/** It is not known whose these transactions are. Those of which the queue has heard in time overtake many of them. */
const SWEPT = 'swept'

type SweeperParts = Pick<FunctionParts, 'engine' | 'queue' | 'config' | 'logger'>

/**
 * Creates a handler that finds the due transactions that lost messages and dead owners have left, purges those whose
 * retention is over, and publishes the gauges.
 */
export function createSweeperHandler(
  parts: SweeperParts,
  print: (line: string) => void = printLine,
): SweeperHandler {
  // The next sweep begins with as many rows as the store has last answered for.
  const [postponeLimit, purgeLimit] = [new RowLimit(POSTPONE_ROWS_MAX), new RowLimit(PURGE_ROWS_MAX)]
  return async function handle(_event, context) {
    const { engine, queue, config, logger } = parts
    await engine.during(context.getRemainingTimeInMillis(), async (invocation) => {
      // The stats are read before anything is swept, because a postponed transaction is not due.
      const stats = await attempt(() => invocation.stats())
      const swept = await attempt(() =>
        queue === undefined ? runDue(invocation) : requestWakeUps(invocation, queue, postponeLimit),
      )
      const purged = await attempt(() => purge(invocation, purgeLimit))
      const gauges = buildGauges(stats.value, { swept: swept.value, purged: purged.value })
      print(writeEmbeddedMetrics(gauges, config.metricsNamespace, Date.now()))
      // Each part is done even if others fail. One failure is thrown at the end, so that the alarm sees a failed run.
      const failures = listFailures({ stats, sweep: swept, purge: purged })
      for (const { work, error } of failures) logger.error({ work, err: error }, 'a part of the sweep failed')
      if (failures[0] !== undefined) throw failures[0].error
    })
  }
}

interface Attempt<T> {
  readonly value?: T
  readonly failure?: { readonly error: unknown }
}

async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() }
  } catch (error: unknown) {
    return { failure: { error } }
  }
}

function listFailures(attempts: Readonly<Record<string, Attempt<unknown>>>) {
  return Object.entries(attempts).flatMap(([work, { failure }]) =>
    failure === undefined ? [] : [{ work, error: failure.error }],
  )
}

/** Requests a wake-up for each due transaction. It claims none, so its duration does not depend on theirs. */
async function requestWakeUps(invocation: Invocation, queue: WakeUpQueue, limit: RowLimit): Promise<number> {
  let asked = 0
  for (let mayBeMore = true; mayBeMore && !invocation.isTimeUp; ) {
    const { answer } = await limit.ask(
      (rows) => invocation.postponeDue(rows, POSTPONE_MS),
      () => !invocation.isTimeUp,
    )
    await queue.schedule(answer.gids.map((gid) => ({ gid, dueInMs: 0, group: SWEPT })))
    asked += answer.gids.length
    mayBeMore = answer.mayBeMore
  }
  return asked
}

async function runDue(invocation: Invocation): Promise<number> {
  let run = 0
  for (let mayBeMore = true; mayBeMore && !invocation.isTimeUp; ) {
    const due = await invocation.runDue(CLAIM_MAX)
    run += due.outcomes.length
    mayBeMore = due.mayBeMore
  }
  return run
}

async function purge(invocation: Invocation, limit: RowLimit): Promise<number> {
  let purged = 0
  for (let mayBeMore = true; mayBeMore && !invocation.isTimeUp; ) {
    const { rows, answer } = await limit.ask(
      (limit) => invocation.purge(limit),
      () => !invocation.isTimeUp,
    )
    purged += answer
    mayBeMore = answer === rows
  }
  return purged
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
