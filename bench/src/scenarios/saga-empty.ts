import { runRounds } from '../rounds.ts'
import { toRatio } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { openOwnRedis, usedMemoryBytes } from '../stores/open-own-redis.ts'
import { toStoreFacts } from '../stores/open-store-host.ts'
import { counted } from './counted.ts'
import { requireRedis } from './saga-empty/require-redis.ts'
import { emptyNote, takesEmptyUrls } from './saga-empty/takes-empty-urls.ts'
import { auditSagas, openSagaFixture, sagaPlan } from './saga-fixture.ts'

const PROCESSES = [1, 2]

export const sagaEmpty: Scenario = {
  name: 'saga-empty',
  summary:
    'branches with empty URLs on a private Redis: one and two servers on it; memory of a finished saga',
  defaults: { store: 'redis' },
  async run(context) {
    const { harness, settings, progress } = context
    requireRedis(settings.store)
    const { host, link } = await openOwnRedis(harness, 'everysec')
    const isEmpty = await takesEmptyUrls(context, await host.newDatabase())
    const fixture = await openSagaFixture(context, host, await host.newDatabase(), {
      processes: Math.max(...PROCESSES),
    })
    const { branches, connections } = settings
    const plans = PROCESSES.map((processes) =>
      sagaPlan(fixture, context, {
        name: counted(processes, 'server'),
        connections,
        branches,
        isEmpty,
        processes,
      }),
    )
    const emptyBytes = await usedMemoryBytes(link)
    const rows = await runRounds(context, plans)
    progress.show('counting what is stored')
    const counters = await auditSagas(fixture, plans, rows)
    const bytesPerSaga = ((await usedMemoryBytes(link)) - emptyBytes) / counters.answers
    const [one, two] = rows
    if (one === undefined || two === undefined) throw new Error('a row is missing')
    return {
      store: toStoreFacts(host, fixture.servers[0]),
      rows,
      ratios: [toRatio('2 servers/1 server', two, one)],
      counters: { ...counters, 'bytes per finished saga': Math.round(bytesPerSaga) },
      notes: [
        emptyNote(isEmpty),
        `memory of Redis for a finished saga: ${Math.round(bytesPerSaga)} bytes (used_memory after ${counters.stored} of them, less that before); that it comes back: saga-empty-retention`,
      ],
    }
  },
}
