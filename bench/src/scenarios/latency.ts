import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { startRelay } from '../harness/harness.ts'
import { toTimedLength } from '../load/to-timed-length.ts'
import { measure, measureInTurn } from '../rounds.ts'
import { type Row, rowNamed } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import type { Spread } from '../spread.ts'
import { openOwnMysql } from '../stores/open-own-mysql.ts'
import { toStoreFacts } from '../stores/open-store-host.ts'
import { auditBaseline, baselinePlan, openBaselineFixture } from './baseline-fixture.ts'
import { BEYOND_MS, boundRatio, type ComparedP50s, FLUSHES, flushRatio } from './latency/bound-ratio.ts'
import { OneRowCommits } from './latency/one-row-commits.ts'
import { relayPlan } from './relay.ts'
import { auditSagas, openSagaFixture, sagaPlan } from './saga-fixture.ts'

const WARM_CONNECTIONS = 16
const RELAY = 'relay'
const SAGA = 'saga'
const BASELINE = 'two-writes baseline'

export const latency: Scenario = {
  name: 'latency',
  summary: 'one connection: what a saga takes longer than the relay, against a one-row commit',
  defaults: { store: 'mariadb', connections: 1, rounds: 4, seconds: 1.2, warmUpSeconds: 0.3 },
  async run(context) {
    const { harness, settings, progress } = context
    const { branches, connections } = settings
    const mysql = await openOwnMysql(harness, settings.store)
    const fixture = await openSagaFixture(context, mysql.host, await mysql.host.newDatabase())
    const baseline = await openBaselineFixture(context, mysql.host)
    const relayBranch = await startBranch(harness)
    const relayService = await startRelay(harness, relayBranch.url, branches)
    const commits = await OneRowCommits.open(mysql, toTimedLength(settings))
    harness.atEnd(() => commits.close())
    const warm = { name: toWarmName(SAGA), connections: WARM_CONNECTIONS, branches }
    const sagaPlans = [
      sagaPlan(fixture, context, warm),
      sagaPlan(fixture, context, { name: SAGA, connections, branches }),
    ]
    const baselinePlans = [
      baselinePlan(baseline, context, { ...warm, name: toWarmName(BASELINE) }),
      baselinePlan(baseline, context, { name: BASELINE, connections }),
    ]
    const relayPlans = [
      {
        ...relayPlan(relayService, relayBranch, { ...settings, connections: WARM_CONNECTIONS }),
        name: toWarmName(RELAY),
      },
      relayPlan(relayService, relayBranch, settings),
    ]
    const plans = [...relayPlans, ...baselinePlans, ...sagaPlans]
    const rows = await measureInTurn(context, [
      ...plans.map((plan) => ({ name: plan.name, measure: () => measure(harness, plan) })),
      commits,
    ])
    progress.show('counting what is stored')
    const relayCalls = await relayBranch.callCount()
    const relayAnswers = countAnswers(rows, relayPlans)
    checkEqual({ callsExpected: relayAnswers * branches, relayCalls })
    const sagaRows = sagaPlans.map(({ name }) => rowNamed(rows, name))
    return {
      store: toStoreFacts(mysql.host, fixture.servers[0]),
      rows,
      ratios: [
        { name: 'latency/bound', spread: boundRatio(findP50s(rows, SAGA)) },
        { name: 'baseline/bound', spread: boundRatio(findP50s(rows, BASELINE)) },
        { name: 'flushes/saga', spread: flushRatio(findP50s(rows, SAGA)) },
      ],
      counters: {
        ...(await auditSagas(fixture, sagaPlans, sagaRows)),
        ...(await auditBaseline(baseline, countAnswers(rows, baselinePlans), branches)),
        relayAnswers,
        relayCalls,
        commits: await commits.audit(),
      },
      notes: [
        `latency/bound: p50 of saga minus p50 of relay, divided by ${FLUSHES} one-row commits + ${BEYOND_MS} ms; below 1 it is within the bound`,
        'baseline/bound: the same of the two-writes baseline, which calls and writes as a saga does, and does nothing else',
        'the relay calls by undici, both others by the orchestrator’s own client',
        `${WARM_CONNECTIONS} connections: so that what is asked is warm, as it is in service; a few hundred sagas a second leave half of a server to V8’s interpreter`,
        'flushes/saga: p50 of saga minus p50 of relay, in one-row commits',
      ],
    }
  },
}

function countAnswers(rows: readonly Row[], plans: readonly { readonly name: string }[]): number {
  return plans.reduce((sum, { name }) => sum + rowNamed(rows, name).answers, 0)
}

function toWarmName(name: string): string {
  return `${name}, ${WARM_CONNECTIONS} connections`
}

function findP50s(rows: readonly Row[], name: string): ComparedP50s {
  return {
    relay: readP50(rowNamed(rows, RELAY)),
    writing: readP50(rowNamed(rows, name)),
    commit: readP50(rowNamed(rows, 'one-row commit')),
  }
}

function readP50({ name, p50Ms }: Row): Spread {
  if (p50Ms === null) throw new Error(`${name} has no latency`)
  return p50Ms
}
