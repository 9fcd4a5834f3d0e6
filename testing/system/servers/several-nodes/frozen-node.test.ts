import type { TransactionView } from '@counterstep/protocol'
import { until } from '@counterstep/test-servers/until'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { Fixture } from './fixture.ts'
import { Gate } from './gate.ts'
import { Load } from './load.ts'
import { readMetric, storeCalls } from './metrics.ts'
import { abort, submit } from './node-client.ts'
import { serialSaga } from './saga-requests.ts'
import { AnswerCounts, submitUntilFinal, untilFinal } from './until-final.ts'

/** The leases must last until the node freezes, on however busy a machine. */
const LEASE_MS = 3_000
const FROZEN_MS = 3 * LEASE_MS
/** The calls that it holds are not to run out before they are answered. */
const BRANCH_TIMEOUT_MS = 60_000
const POLL_MS = 100
const EACH = 20
const LOAD_CALLERS = 4
/** A client waits this long for a node that does not answer. */
const PATIENCE_MS = 300
const STUCK_MS = 20_000

/**
 * Each says when the last call of a saga, begun by the node that freezes, is answered. `early`: while it is
 * frozen, before another node has taken the saga over. `late`: while it is frozen, after the saga has ended elsewhere.
 * `aborted`: like late, and the saga was aborted elsewhere, so that its action comes after its compensation.
 */
const GROUPS = ['early', 'late', 'aborted'] as const
const makeGids = (group: string) => Array.from({ length: EACH }, (_, index) => `${group}-${index}`)
const gids = GROUPS.flatMap(makeGids)

for (const server of ['mariadb', 'postgres', 'redis'] as const) {
  describeOn(server, `a node that freezes for three leases`, (storeUrl) => {
    const gates = { early: new Gate(), late: new Gate(), aborted: new Gate() }
    let fixture: Fixture

    beforeAll(async () => {
      fixture = await Fixture.start(storeUrl, 2, {
        'lease-ms': LEASE_MS,
        'poll-ms': POLL_MS,
        'branch-timeout-ms': BRANCH_TIMEOUT_MS,
      })
      fixture.branches.rule = async ({ gid, branchId, epoch }) => {
        const group = GROUPS.find((name) => gid.startsWith(`${name}-`))
        if (group !== undefined && branchId === '02' && epoch === 1) await gates[group].pass()
        return 'run'
      }
    })

    afterAll(() => fixture.stop())

    function answered(group: (typeof GROUPS)[number]): boolean {
      return makeGids(group).every((gid) =>
        fixture.branches.calls(gid).every(({ statusCode }) => statusCode !== undefined),
      )
    }

    it('A node that freezes has its writes refused when it thaws, and nothing has happened twice', async () => {
      const [freezing = '', living = ''] = fixture.urls
      const atLiving = { pickUrl: () => living, counts: new AnswerCounts() }
      const request = (gid: string) => serialSaga(gid, fixture.branches.url, 2)
      await Promise.all(gids.map((gid) => submit(freezing, request(gid))))
      await until('each saga has its last call in flight', STUCK_MS, () =>
        GROUPS.every((group) => gates[group].arrived === EACH),
      )
      // Half of the tries go to the frozen node; a caller that gets no answer there sends the same to the other one.
      let tries = 0
      const load = new Load({
        callers: LOAD_CALLERS,
        request: (index) => request(`load-${index}`),
        pickUrl: () => fixture.urls[tries++ % 2] ?? '',
        answerMsMax: PATIENCE_MS,
      })

      await fixture.freezeBetweenTransactions(0)
      const frozenAt = performance.now()
      gates.early.open()
      const aborts = await Promise.all(makeGids('aborted').map((gid) => abort(living, gid)))
      const views = await Promise.all(gids.map((gid) => submitUntilFinal(request(gid), atLiving)))
      await until('three leases have passed', STUCK_MS, () => performance.now() - frozenAt >= FROZEN_MS)
      gates.late.open()
      gates.aborted.open()
      await until('the services have answered the frozen node', STUCK_MS, () => GROUPS.every(answered))
      fixture.node(0).thaw()
      await until('the thawed node has let go of them', STUCK_MS, async () => {
        return (
          (await readMetric(freezing, 'counterstep_engine_events_total', { event: 'transaction-lost' })) >=
          gids.length
        )
      })
      const loaded = await load.end()
      const refused = await storeCalls(freezing, 'update', 'fenced')
      const late = await submitUntilFinal(request('after'), {
        ...atLiving,
        pickUrl: () => freezing,
      })

      const hanging = gids.flatMap((gid) => fixture.branches.calls(gid)).filter(({ isHanging }) => isHanging)
      process.stdout.write(
        `${server}: ${gids.length} sagas held by the frozen node, ${refused} of its writes refused, ${hanging.length} late actions refused by the barrier, ${loaded.length} sagas meanwhile (${load.counts})\n`,
      )
      expect(refused).toBeGreaterThanOrEqual(1)
      expect(hanging).toHaveLength(EACH)
      expect(load.counts.get('timeout')).toBeGreaterThan(0)
      expect(aborts.map((answer) => answer.type === 'view' && answer.status)).toEqual(
        makeGids('aborted').map(() => 202),
      )
      expect(views.map(({ status }) => status)).toEqual(
        gids.map((gid) => (gid.startsWith('aborted') ? 'failed' : 'succeeded')),
      )
      expect(new Set([late, ...loaded].map(({ status }) => status))).toEqual(new Set(['succeeded']))
      const again = await Promise.all(
        gids.map((gid) => untilFinal(gid, { ...atLiving, pickUrl: () => freezing })),
      )
      const toEnd = ({ gid, status, finishedAt, epoch }: TransactionView) => ({
        gid,
        status,
        finishedAt,
        epoch,
      })
      expect(again.map(toEnd)).toEqual(views.map(toEnd))
      const all = [late, ...loaded, ...views]
      expect(all.flatMap((view) => auditEffects(fixture.branches.ledger, view))).toEqual([])
    }, 120_000)
  })
}
