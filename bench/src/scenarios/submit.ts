import { checkEqual } from '../check-counts.ts'
import { countStored } from '../harness/count-stored.ts'
import { runRounds } from '../rounds.ts'
import { type Ratio, type Row, toRatio } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { openCountedHost } from '../stores/open-counted-host.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import { counted } from './counted.ts'
import { openSagaFixture } from './saga-fixture.ts'
import { ACKS, type Ack, type SubmitPlan, submitPlan } from './submit/submit-plans.ts'

const CONNECTIONS = [1, 8, 96]
const SLOW_FLUSH_US = 5_000
/** More than are submitted in a row: what is measured is the submit, not a bound on what runs. */
const IN_FLIGHT_MAX = 1_000_000

export const submit: Scenario = {
  name: 'submit',
  summary: `nobody waits for the end: ack durable against memory, ${CONNECTIONS.join(', ')} connections, also with slow flushes`,
  // Twelve rows within a minute.
  defaults: { store: 'mariadb', seconds: 0.5, warmUpSeconds: 0.15 },
  async run(context) {
    const { harness, settings, progress } = context
    // Flushes are slowed only where that is a setting of a server of our own.
    const isSql = settings.store !== 'sqlite' && settings.store !== 'redis'
    const own = isSql ? await openCountedHost(harness, settings.store) : undefined
    const host = own?.host ?? (await openStoreHost(harness, settings.store))
    const inFlight = ['--in-flight-max', String(IN_FLIGHT_MAX), '--memory-ack-max', String(IN_FLIGHT_MAX)]
    // All are of one target.
    const bounds = [...inFlight, '--target-share', '1']
    const fixture = await openSagaFixture(context, host, await host.newDatabase(), { options: bounds })
    const plans = [0, ...(isSql ? [SLOW_FLUSH_US] : [])].flatMap((flushDelayUs) =>
      CONNECTIONS.flatMap((connections) =>
        ACKS.map((ack) => submitPlan(fixture, context, { ack, connections, flushDelayUs }, own)),
      ),
    )
    const rows = await runRounds(context, plans)
    progress.show('counting what is stored')
    const [server] = fixture.servers
    const answers = rows.reduce((sum, row) => sum + row.answers, 0)
    const stored = await countStored(server.url)
    const branchCalls = await fixture.branch.callCount()
    // Transactions that were acknowledged from memory are there as well, because no server died.
    checkEqual({ answers, stored })
    checkEqual({ callsExpected: answers * settings.branches, branchCalls })
    return {
      store: toStoreFacts(host, server),
      rows,
      ratios: submitRatios(plans, rows),
      counters: { answers, stored, branchCalls },
      notes: [
        ...(isSql
          ? [
              `memory/durable: 1 connection, each flush of the database's log slowed to ${SLOW_FLUSH_US / 1000} ms`,
            ]
          : ['flushes are slowed on a server of SQL only (--store mariadb)']),
        'ended/s: sagas that ended, from the first submit to the last end: what the machine bears for long; in flight then: when the load ended',
      ],
    }
  },
}

/** The one that is quoted first. */
function submitRatios(plans: readonly SubmitPlan[], rows: readonly Row[]): readonly Ratio[] {
  const rowAt = (ack: Ack, connections: number, flushDelayUs: number) =>
    rows[
      plans.findIndex(
        ({ variant }) =>
          variant.ack === ack && variant.connections === connections && variant.flushDelayUs === flushDelayUs,
      )
    ]
  return [SLOW_FLUSH_US, 0].flatMap((flushDelayUs) =>
    CONNECTIONS.flatMap((connections) => {
      const [memory, durable] = [
        rowAt('memory', connections, flushDelayUs),
        rowAt('durable', connections, flushDelayUs),
      ]
      if (memory === undefined || durable === undefined) return []
      return [toRatio(ratioName(connections, flushDelayUs), memory, durable)]
    }),
  )
}

function ratioName(connections: number, flushDelayUs: number): string {
  if (connections === 1 && flushDelayUs === SLOW_FLUSH_US) return 'memory/durable'
  const flush = flushDelayUs === 0 ? '' : `, ${flushDelayUs / 1000} ms flush`
  return `memory/durable, ${counted(connections, 'connection')}${flush}`
}
