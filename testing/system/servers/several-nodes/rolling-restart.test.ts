import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '@counterstep/simulator'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { Fixture } from './fixture.ts'
import { Load } from './load.ts'
import type { Ending } from './node-process.ts'
import { serialSaga } from './saga-requests.ts'

const NODES = 3
/** There are so many that each stop finds sagas in the middle of a long call. */
const CALLERS = 32
const LEASE_MS = 30_000
const POLL_MS = 200
const SEED = 20_261_122
/** A stop promises to take no longer. */
const STOP_MS_MAX = 10_000
/**
 * A saga takes no longer from accept to end. That is far below the lease, which a saga that was not given back would have to wait for.
 */
const LIFE_MS_MAX = 10_000
/** Each node is stopped, and one that has only begun under load. */
const STOPPED = [0, 1, 2, 0]
const LONG_CALL_MS = 900

for (const server of ['mariadb', 'redis'] as const) {
  describeOn(server, `a rolling restart of ${NODES} nodes under load`, (storeUrl) => {
    const random = new Random(SEED)
    let fixture: Fixture

    beforeAll(async () => {
      fixture = await Fixture.start(storeUrl, NODES, { 'lease-ms': LEASE_MS, 'poll-ms': POLL_MS })
      fixture.branches.rule = async ({ gid, branchId, op }) => {
        await delay(random.chance(0.3) ? LONG_CALL_MS : random.between(5, 50))
        return gid.endsWith('7') && branchId === '03' && op === 'action' ? 'refuse' : 'run'
      }
    })

    afterAll(() => fixture.stop())

    it('A rolling restart refuses with nothing but the documented 503, and no saga waits for a lease', async () => {
      const startedAt = performance.now()
      const load = new Load({
        callers: CALLERS,
        request: (index) => serialSaga(`roll-${index}`, fixture.branches.url, 3),
        pickUrl: () => fixture.urls[random.between(0, NODES - 1)] ?? '',
      })
      const endings: Ending[] = []
      for (const index of STOPPED) {
        endings.push(await fixture.node(index).stop())
        await fixture.restart(index)
      }
      // It throws if any answer was another one than a 2xx or a 503 that says to send the same again.
      const views = await load.end()

      const lifeMs = views.map(
        ({ createdAt, finishedAt = Number.POSITIVE_INFINITY }) => finishedAt - createdAt,
      )
      const handedOver = views.filter(({ epoch }) => epoch > 1).length
      const stopMs = endings.map(({ tookMs }) => tookMs)
      process.stdout.write(
        `${server}: ${endings.length} restarts in ${Math.round((performance.now() - startedAt) / 1000)} s, each stop at most ${Math.round(Math.max(...stopMs))} ms; ${views.length} sagas, ${handedOver} handed over, longest life ${Math.max(...lifeMs)} ms; ${load.counts}\n`,
      )
      expect(endings.map(({ code }) => code)).toEqual(endings.map(() => 0))
      expect(Math.max(...stopMs)).toBeLessThanOrEqual(STOP_MS_MAX)
      expect(load.counts.get('503 SAGA_STOPPING')).toBeGreaterThan(0)
      expect(handedOver).toBeGreaterThanOrEqual(10)
      expect(Math.max(...lifeMs)).toBeLessThanOrEqual(LIFE_MS_MAX)
      expect(new Set(views.map(({ status }) => status))).toEqual(new Set(['succeeded', 'failed']))
      expect(views.flatMap((view) => auditEffects(fixture.branches.ledger, view))).toEqual([])
    }, 120_000)
  })
}
