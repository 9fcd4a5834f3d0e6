import { CLAIM_MAX, POSTPONE_MAX, PURGE_MAX, type WakeUpQueue } from '@counterstep/core'
import type { Invocation } from '@counterstep/engine'
import type { LambdaContext } from './events.ts'
import type { Home } from './function-parts.ts'
import { embeddedMetrics, gaugesOf } from './gauges.ts'

export type SweeperHandler = (event: unknown, context: LambdaContext) => Promise<void>

/** The sweeper finds a transaction again after this time if it has asked the queue for it and no worker took it up. */
export const POSTPONE_MS = 60_000

type SweeperHome = Pick<Home, 'engine' | 'queue' | 'config' | 'logger'>

/** Finds what lost messages and dead owners left, removes what is past its retention, and publishes the gauges. */
export function sweeperHandler(home: SweeperHome, print: (line: string) => void = printLine): SweeperHandler {
  return async function handle(_event, context) {
    const { engine, queue, config, logger } = home
    await engine.during(context.getRemainingTimeInMillis(), async (invocation) => {
      // The stats are read before anything is swept, because a postponed transaction is not due.
      const stats = await attempt(() => invocation.stats())
      const swept = await attempt(() =>
        queue === undefined ? runDue(invocation) : askForDue(invocation, queue),
      )
      const purged = await attempt(() => purge(invocation))
      const gauges = gaugesOf(stats.value, { swept: swept.value, purged: purged.value })
      print(embeddedMetrics(gauges, config.metricsNamespace, Date.now()))
      // Each part is done even if others fail, and the alarm rings all the same. Only one of the failures can be thrown.
      const failures = failuresOf({ stats, sweep: swept, purge: purged })
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

function failuresOf(attempts: Readonly<Record<string, Attempt<unknown>>>) {
  return Object.entries(attempts).flatMap(([work, { failure }]) =>
    failure === undefined ? [] : [{ work, error: failure.error }],
  )
}

/** Claims nothing, so that it costs the same however long the transactions take. */
async function askForDue(invocation: Invocation, queue: WakeUpQueue): Promise<number> {
  let asked = 0
  for (let mayBeMore = true; mayBeMore && !invocation.isTimeUp; ) {
    const postponed = await invocation.postponeDue(POSTPONE_MAX, POSTPONE_MS)
    await queue.schedule(postponed.gids.map((gid) => ({ gid, dueInMs: 0 })))
    asked += postponed.gids.length
    mayBeMore = postponed.mayBeMore
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

async function purge(invocation: Invocation): Promise<number> {
  let purged = 0
  for (let last = PURGE_MAX; last === PURGE_MAX && !invocation.isTimeUp; purged += last) {
    last = await invocation.purge(PURGE_MAX)
  }
  return purged
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
