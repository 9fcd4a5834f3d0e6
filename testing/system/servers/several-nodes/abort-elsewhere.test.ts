import { setTimeout as delay } from 'node:timers/promises'
import type { TransactionView } from '@counterstep/protocol'
import { Random } from '@counterstep/simulator'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { auditEffects } from './audit-effects.ts'
import { Fixture } from './fixture.ts'
import { abort, isRetryable, submit } from './node-client.ts'
import { serialSaga } from './saga-requests.ts'
import { AnswerCounts, submitUntilFinal, untilFinal } from './until-final.ts'

const SAGAS = 1_000
const WARM_UP = 100
const CALLERS = 24
const SEED = 20_261_121
/** Some aborts come after the end, most before it. */
const SPREAD = 1.3
const EITHER_MIN = 100
const BRANCH_MS_MIN = 2
const BRANCH_MS_MAX = 8

interface Aborted {
  readonly answer: 'accepted' | 'already-final'
  readonly view: TransactionView
}

for (const server of ['mariadb', 'redis'] as const) {
  describeOn(server, `an abort sent to a node that does not run the saga`, (storeUrl) => {
    const random = new Random(SEED)
    let fixture: Fixture

    beforeAll(async () => {
      fixture = await Fixture.start(storeUrl, 2, {})
      fixture.branches.rule = async () => {
        await delay(random.between(BRANCH_MS_MIN, BRANCH_MS_MAX))
        return 'run'
      }
    })

    afterAll(() => fixture.stop())

    async function inParallel(count: number, run: (index: number) => Promise<void>): Promise<void> {
      let next = 0
      const caller = async () => {
        while (next < count) await run(next++)
      }
      await Promise.all(Array.from({ length: CALLERS }, caller))
    }

    const request = (gid: string, index: number) => serialSaga(gid, fixture.branches.url, 2 + (index % 2))

    /** Measures from its accept to its end, with as many others beside it. */
    async function typicalMs(): Promise<number> {
      const [runner = ''] = fixture.urls
      const tookMs: number[] = []
      await inParallel(WARM_UP, async (index) => {
        const options = { pickUrl: () => runner, counts: new AnswerCounts() }
        const { createdAt, finishedAt = 0 } = await submitUntilFinal(request(`warm-${index}`, index), options)
        tookMs.push(finishedAt - createdAt)
      })
      return tookMs.sort((a, b) => a - b)[WARM_UP / 2] ?? 0
    }

    async function abortAt(afterMs: number, index: number, counts: AnswerCounts): Promise<Aborted> {
      const [runner = '', other = ''] = fixture.urls
      const gid = `abort-${index}`
      const accepted = await submit(runner, request(gid, index))
      if (accepted.type !== 'view') throw new Error(`not accepted: ${JSON.stringify(accepted)}`)
      await delay(afterMs)
      for (;;) {
        const answer = await abort(other, gid)
        counts.add(answer)
        if (isRetryable(answer)) continue
        const view = await untilFinal(gid, { pickUrl: () => runner, counts: new AnswerCounts() })
        if (answer.type === 'view') return { answer: 'accepted', view }
        if (answer.type === 'problem' && answer.code === 'SAGA_ALREADY_FINAL' && answer.status === 409) {
          return { answer: 'already-final', view }
        }
        throw new Error(`${gid}: ${JSON.stringify(answer)}`)
      }
    }

    it(`An abort sent to another node is either accepted and undoes everything, or too late and changes nothing (seed ${SEED})`, async () => {
      const usualMs = await typicalMs()
      const counts = new AnswerCounts()
      const aborted: Aborted[] = []
      await inParallel(SAGAS, async (index) => {
        aborted.push(await abortAt(random.next() * usualMs * SPREAD, index, counts))
      })
      const tooLate = aborted.filter(({ answer }) => answer === 'already-final')
      const inTime = aborted.filter(({ answer }) => answer === 'accepted')
      const undone = inTime
        .flatMap(({ view }) => fixture.branches.calls(view.gid))
        .filter(({ op }) => op === 'compensate')
      process.stdout.write(
        `${server}: ${SAGAS} aborts within ${Math.round(usualMs * SPREAD)} ms of the accept: ${inTime.length} in time (${undone.length} compensations), ${tooLate.length} too late (${counts})\n`,
      )
      expect(new Set(tooLate.map(({ view }) => view.status))).toEqual(new Set(['succeeded']))
      expect(new Set(inTime.map(({ view }) => view.status))).toEqual(new Set(['failed']))
      expect(new Set(inTime.map(({ view }) => view.abort?.cause))).toEqual(new Set(['requested']))
      expect(Math.min(inTime.length, tooLate.length)).toBeGreaterThanOrEqual(EITHER_MIN)
      expect(aborted.flatMap(({ view }) => auditEffects(fixture.branches.ledger, view))).toEqual([])
    }, 90_000)
  })
}
