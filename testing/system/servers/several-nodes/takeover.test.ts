import { until } from '@counterstep/test-servers/until'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { Fixture } from './fixture.ts'
import { Gate } from './gate.ts'
import { storeCalls } from './metrics.ts'
import { submit } from './node-client.ts'
import { serialSaga } from './saga-requests.ts'
import { AnswerCounts, submitUntilFinal } from './until-final.ts'

/** These are more than one claim takes (100), and fewer than a node calls one origin at once (128). */
const SAGAS = 120
const LEASE_MS = 2_000
const POLL_MS = 200
/** The product promises lease + poll + 1 s. The last second is all the slack there is, the test's own included. */
const TAKEOVER_MS_MAX = LEASE_MS + POLL_MS + 1_000
const STUCK_MS = 20_000

const gids = Array.from({ length: SAGAS }, (_, index) => `takeover-${index}`)
/** A third of them are on their way back when their node dies. */
const turnsAround = (gid: string) => Number(gid.split('-')[1]) % 3 === 0

for (const server of ['mariadb', 'redis'] as const) {
  describeOn(server, `a node that dies with sagas in flight`, (storeUrl) => {
    const late = new Gate()
    let fixture: Fixture

    beforeAll(async () => {
      fixture = await Fixture.start(storeUrl, 2, { 'lease-ms': LEASE_MS, 'poll-ms': POLL_MS })
      fixture.branches.rule = async ({ gid, branchId, op, epoch }) => {
        if (op === 'action' && branchId === '03' && turnsAround(gid)) return 'refuse'
        const isLong = turnsAround(gid) ? op === 'compensate' && branchId === '02' : branchId === '02'
        if (isLong && epoch === 1) await late.pass()
        return 'run'
      }
    })

    afterAll(() => fixture.stop())

    it('The sagas of a node that dies are taken over within lease + poll + 1 s, and each ends as it should', async () => {
      const [dying = '', living = ''] = fixture.urls
      const request = (gid: string) => serialSaga(gid, fixture.branches.url, 3)
      await Promise.all(gids.map((gid) => submit(dying, request(gid))))
      await until('each saga has its long call in flight', STUCK_MS, () => late.arrived === SAGAS)
      await until('the leases have been renewed', STUCK_MS, async () => {
        return (await storeCalls(dying, 'renew', 'ok')) >= 2
      })
      const killedAt = performance.now()
      await fixture.node(0).kill()
      const atLiving = { pickUrl: () => living, counts: new AnswerCounts() }
      const views = await Promise.all(gids.map((gid) => submitUntilFinal(request(gid), atLiving)))
      // The dead node's calls go on at the services, and have their effect after everything else.
      late.open()
      await until('the late originals have been answered', STUCK_MS, () =>
        gids.every((gid) => fixture.branches.calls(gid).every(({ statusCode }) => statusCode !== undefined)),
      )

      const waitsMs = gids.map((gid) => {
        const first = fixture.branches.calls(gid).find(({ arrivedAt }) => arrivedAt > killedAt)
        return (first?.arrivedAt ?? Number.POSITIVE_INFINITY) - killedAt
      })
      process.stdout.write(
        `${server}: ${SAGAS} sagas taken over ${Math.round(Math.min(...waitsMs))} to ${Math.round(Math.max(...waitsMs))} ms after the kill (at most ${TAKEOVER_MS_MAX})\n`,
      )
      expect(Math.max(...waitsMs)).toBeLessThanOrEqual(TAKEOVER_MS_MAX)
      expect(views.map(({ epoch }) => epoch)).toEqual(gids.map(() => 2))
      expect(views.map(({ status }) => status)).toEqual(
        gids.map((gid) => (turnsAround(gid) ? 'failed' : 'succeeded')),
      )
      expect(views.flatMap((view) => auditEffects(fixture.branches.ledger, view))).toEqual([])
    }, 60_000)
  })
}
