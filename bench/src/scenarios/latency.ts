import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { startRelay } from '../harness/harness.ts'
import { timed } from '../load/timed.ts'
import { measure, measureInTurn } from '../rounds.ts'
import type { Row } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { type Spread, spreadOf } from '../spread.ts'
import { openOwnMysql } from '../stores/open-own-mysql.ts'
import { storeFactsOf } from '../stores/open-store-host.ts'
import { OneRowCommits } from './latency/one-row-commits.ts'
import { relayPlan } from './relay.ts'
import { auditSagas, openSagaBed, sagaPlan } from './saga-bed.ts'

/** Accept and finish: what a saga cannot do without. */
const FLUSHES = 2
const BEYOND_MS = 0.3

const WARM_CONNECTIONS = 16
const WARM = `saga, ${WARM_CONNECTIONS} connections`

export const latency: Scenario = {
  name: 'latency',
  summary: 'one connection: what a saga takes longer than the relay, against a one-row commit',
  defaults: { store: 'mariadb', connections: 1, rounds: 5, seconds: 2, warmUpSeconds: 0.5 },
  async run(context) {
    const { harness, settings, progress } = context
    const { branches, connections } = settings
    const mysql = await openOwnMysql(harness, settings.store)
    const bed = await openSagaBed(context, mysql.host, await mysql.host.newDatabase())
    const relayBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const commits = await OneRowCommits.open(mysql, timed(settings))
    harness.atEnd(() => commits.close())
    const plans = [
      relayPlan(relayService, relayBranch, settings),
      sagaPlan(bed, context, { name: WARM, connections: WARM_CONNECTIONS, branches }),
      sagaPlan(bed, context, { name: 'saga', connections, branches }),
    ] as const
    const rows = await measureInTurn(context, [
      ...plans.map((plan) => ({ name: plan.name, measure: () => measure(harness, plan) })),
      commits,
    ])
    const [relayRow, warmRow, sagaRow, commitRow] = rows
    if (relayRow === undefined || warmRow === undefined || sagaRow === undefined || commitRow === undefined)
      throw new Error('a row is missing')
    progress.show('counting what is stored')
    const relayCalls = await relayBranch.callCount()
    checkEqual({ callsExpected: relayRow.answers * branches, relayCalls })
    return {
      store: storeFactsOf(mysql.host, bed.servers[0]),
      rows,
      ratios: boundRatios(p50Of(relayRow), p50Of(sagaRow), p50Of(commitRow)),
      counters: {
        ...(await auditSagas(bed, [plans[1], plans[2]], [warmRow, sagaRow])),
        relayAnswers: relayRow.answers,
        relayCalls,
        commits: await commits.audit(),
      },
      notes: [
        `latency/bound: p50 of saga minus p50 of relay, divided by ${FLUSHES} one-row commits + ${BEYOND_MS} ms; below 1 it is within the bound`,
        `${WARM}: so that the server is warm, as one in service is; a few hundred sagas a second leave half of it to V8’s interpreter`,
        'flushes/saga: p50 of saga minus p50 of relay, in one-row commits',
      ],
    }
  },
}

/** Round by round, of medians in milliseconds. */
export function boundRatios(relay: Spread, saga: Spread, commit: Spread) {
  const each = (quotient: (more: number, commitMs: number) => number) =>
    spreadOf(
      saga.rounds.map((sagaMs, round) => {
        const [relayMs = Number.NaN, commitMs = Number.NaN] = [relay.rounds[round], commit.rounds[round]]
        return quotient(sagaMs - relayMs, commitMs)
      }),
    )
  return [
    {
      name: 'latency/bound',
      spread: each((more, commitMs) => more / (FLUSHES * commitMs + BEYOND_MS)),
    },
    { name: 'flushes/saga', spread: each((more, commitMs) => more / commitMs) },
  ]
}

function p50Of({ name, p50Ms }: Row): Spread {
  if (p50Ms === null) throw new Error(`${name} has no latency`)
  return p50Ms
}
