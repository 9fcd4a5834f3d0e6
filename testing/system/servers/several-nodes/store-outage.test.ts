import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '@counterstep/simulator'
import { type RedisServer, type SqlServer, startMariadb, startRedis } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { Fixture } from './fixture.ts'
import { Load } from './load.ts'
import { isRetryable, type NodeAnswer, submit, view } from './node-client.ts'
import { type NamedRequest, serialSaga } from './saga-requests.ts'
import { submitUntilFinal } from './until-final.ts'

const NODES = 2
const CALLERS = 24
const LEASE_MS = 2_000
const STORE_TIMEOUT_MS = 1_000
/** A submit is refused within the store timeout; the rest is for a busy machine. */
const REFUSAL_MS_MAX = STORE_TIMEOUT_MS + 1_000
const DOWN_MS = 1_000
/** This is longer than a lease, so it is open whose saga it is when the store is back. */
const PAUSED_MS = 3_000
const BRANCH_MS_MIN = 20
const BRANCH_MS_MAX = 300
const SEED = 20_261_123
/** So many must be accepted and on their way when the store goes, or the test proves nothing. */
const UNFINISHED_MIN = 10
const PROBES = 20
/** Within this time of the store's return, as many sagas as there are callers have ended. */
const RESUMED_MS_MAX = 5_000
const STUCK_MS = 20_000

type Server = SqlServer | RedisServer
const START = { mariadb: startMariadb, redis: startRedis } as const

interface Probe {
  readonly request: NamedRequest
  readonly answer: NodeAnswer
  readonly tookMs: number
}

for (const kind of ['mariadb', 'redis'] as const) {
  describeOwn(kind, 'a store that goes away under load and comes back', () => {
    const random = new Random(SEED)
    let server: Server
    let fixture: Fixture
    let turn = 0
    const pickUrl = () => fixture.urls[turn++ % NODES] ?? ''

    beforeAll(async () => {
      server = await START[kind]()
      fixture = await Fixture.start(server.url, NODES, {
        'lease-ms': LEASE_MS,
        'poll-ms': 200,
        'store-timeout-ms': STORE_TIMEOUT_MS,
      })
      fixture.branches.rule = async () => {
        await delay(random.between(BRANCH_MS_MIN, BRANCH_MS_MAX))
        return 'run'
      }
    })

    afterAll(async () => {
      await fixture.stop()
      await server.stop()
    })

    const request = (gid: string) => serialSaga(gid, fixture.branches.url, 3)

    async function probe(gid: string): Promise<Probe> {
      const startedAt = performance.now()
      const answer = await submit(pickUrl(), request(gid))
      return { request: request(gid), answer, tookMs: performance.now() - startedAt }
    }

    /** Proves that it is not stored: no node knows it, and no branch was called. */
    async function expectNeverRun(refused: readonly Probe[]): Promise<void> {
      const seen = await Promise.all(refused.map(({ request: { gid } }) => view(pickUrl(), gid)))
      expect(seen.map((answer) => answer.type === 'problem' && answer.status)).toEqual(seen.map(() => 404))
      expect(refused.flatMap(({ request: { gid } }) => fixture.branches.calls(gid))).toEqual([])
    }

    /** Hurts the store under load, asks it, heals it, and holds it to every answer that a client got. */
    async function outage(
      word: string,
      hurt: () => unknown,
      heal: () => unknown,
      lastsMs: number,
    ): Promise<void> {
      const load = new Load({
        callers: CALLERS,
        request: (index) => request(`${word}-load-${index}`),
        pickUrl,
        waitSeconds: 0,
      })
      await until(
        'the load runs',
        STUCK_MS,
        () => load.views.length >= CALLERS && load.unfinished >= UNFINISHED_MIN,
      )
      const { unfinished } = load
      const hurtAt = performance.now()
      await hurt()
      const probes = await Promise.all(
        Array.from({ length: PROBES }, (_, index) => probe(`${word}-probe-${index}`)),
      )
      await until('the outage has lasted', STUCK_MS, () => performance.now() - hurtAt >= lastsMs)
      const endedBefore = load.views.length
      const healedAt = performance.now()
      await heal()
      await until('the callers go on', STUCK_MS, () => load.views.length >= endedBefore + CALLERS)
      const resumedMs = performance.now() - healedAt
      // It throws if a saga that was accepted is unknown to a node, or any answer is not documented.
      const loaded = await load.end()

      const slowestMs = Math.max(...probes.map(({ tookMs }) => tookMs))
      const codes = probes.map(({ answer }) => (answer.type === 'problem' ? answer.code : answer.type))
      const notAccepted = probes.filter((_, index) => codes[index] === 'SAGA_NOT_ACCEPTED')
      process.stdout.write(
        `${kind} ${word} with ${unfinished} sagas on their way: ${PROBES} submits refused within ${Math.round(slowestMs)} ms (${notAccepted.length} proven not stored), ${CALLERS} sagas ended ${Math.round(resumedMs)} ms after it was back; ${loaded.length} sagas, ${fixture.branches.repeatedCalls(load.accepted)} calls repeated; ${load.counts}\n`,
      )
      expect(probes.map(({ answer }) => isRetryable(answer))).toEqual(probes.map(() => true))
      expect(slowestMs).toBeLessThanOrEqual(REFUSAL_MS_MAX)
      expect(resumedMs).toBeLessThanOrEqual(RESUMED_MS_MAX)
      await expectNeverRun(notAccepted)
      const sentAgain = await Promise.all(
        probes.map((sent) => submitUntilFinal(sent.request, { pickUrl, counts: load.counts })),
      )
      const views = [...loaded, ...sentAgain]
      expect(new Set(views.map(({ status }) => status))).toEqual(new Set(['succeeded']))
      expect(views.flatMap((seen) => auditEffects(fixture.branches.ledger, seen))).toEqual([])
      expect([0, 1].map((index) => fixture.node(index).isAlive)).toEqual([true, true])
    }

    it('Submits are answered with 503 while the store is killed, nothing acknowledged is lost, and work resumes by itself', async () => {
      await outage(
        'killed',
        () => server.kill(),
        () => server.restart(),
        DOWN_MS,
      )
    }, 60_000)

    it('Submits are answered with 503 in time while the store hangs, nothing acknowledged is lost, and work resumes by itself', async () => {
      await outage(
        'paused',
        () => server.pause(),
        () => server.resume(),
        PAUSED_MS,
      )
    }, 60_000)
  })
}
