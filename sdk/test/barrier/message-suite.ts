import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildLocalCall } from '../../src/barrier/message-barrier.ts'
import { answerQueryBack } from '../../src/http/answer-query-back.ts'
import { isBranchError, type LocalOutcome, type QueryPreparedOptions } from '../../src/index.ts'
import { callUrl } from '../branch/call-url.ts'
import type { BarrierFixture } from './barrier-fixture.ts'
import type { BarrierSuite } from './barrier-suite.ts'
import { suiteClock } from './suite-clock.ts'

export interface MessageFixture extends BarrierFixture {
  queryPrepared(gid: string, options?: QueryPreparedOptions): Promise<LocalOutcome>
  /** Runs a local transaction that has written its effect, and ends when the gate does. It is missing where effects cannot wait. */
  runHeld?(gid: string, gate: () => Promise<void>): Promise<unknown>
}

export interface MessageSuite extends Omit<BarrierSuite, 'open'> {
  readonly open: () => Promise<MessageFixture>
}

const SUCCEED = { does: 'succeed' } as const
const REFUSED = { code: 'MESSAGE_REFUSED', meaning: 'unavailable' }
const DUPLICATED = { code: 'MESSAGE_DUPLICATED', meaning: 'bug' }

/** Defines the tests of local transactions of messages against their query-back, for one driver. */
export function messageSuite({ name, open, pairs = 1_000, width }: MessageSuite): void {
  describe(`the query-back on ${name}`, () => {
    let fixture: MessageFixture
    let gids = 0
    const newGid = (): string => `message-${++gids}`
    const local = (gid: string) => fixture.run(buildLocalCall(gid), SUCCEED)

    beforeAll(async () => {
      fixture = await open()
    })
    afterAll(() => fixture.close())

    it('A message is committed after its local transaction, however often it is asked about, and a second one is refused', async () => {
      const gid = newGid()
      expect(await local(gid)).toEqual({ decision: 'run' })
      expect([await fixture.queryPrepared(gid), await fixture.queryPrepared(gid)]).toEqual([
        'committed',
        'committed',
      ])
      await expect(local(gid)).rejects.toMatchObject(DUPLICATED)
      expect([await fixture.effects(gid), await fixture.queryPrepared(gid)]).toEqual([['msg'], 'committed'])
    })

    it('A message is rolled back before its local transaction, which is then refused for good', async () => {
      const gid = newGid()
      expect(await fixture.queryPrepared(gid)).toBe('rolled-back')
      await expect(local(gid)).rejects.toMatchObject(REFUSED)
      expect([await fixture.effects(gid), await fixture.queryPrepared(gid)]).toEqual([[], 'rolled-back'])
      await expect(local(gid)).rejects.toMatchObject(REFUSED)
    })

    for (const does of ['fail', 'break', 'not-yet'] as const) {
      it(`A message is rolled back after a local transaction that ended with ${does}`, async () => {
        const gid = newGid()
        await expect(fixture.run(buildLocalCall(gid), { does })).rejects.toThrow()
        expect(await fixture.queryPrepared(gid)).toBe('rolled-back')
        await expect(local(gid)).rejects.toMatchObject(REFUSED)
        if (fixture.rollsBack) expect(await fixture.effects(gid)).toEqual([])
      })
    }

    it('The query-back asks about the message of the gid alone, and not about its branches', async () => {
      const gid = newGid()
      await fixture.run({ gid, branchId: '01', op: 'action' }, SUCCEED)
      await local(gid)
      expect(await fixture.queryPrepared(gid)).toBe('committed')
      expect(await fixture.queryPrepared(newGid())).toBe('rolled-back')
      expect(await fixture.effects(gid)).toEqual(['action', 'msg'])
    })

    it('The query-back of a message that is older than the rows tells nothing and writes no row', async () => {
      const gid = newGid()
      const acceptedAt = Date.now() - 60 * 24 * 3_600_000
      await expect(fixture.queryPrepared(gid, { acceptedAt })).rejects.toMatchObject({
        code: 'BARRIER_EXPIRED',
      })
      expect(await fixture.queryPrepared(gid, { acceptedAt: Date.now() })).toBe('rolled-back')
    })

    it("The row of an earlier message of the same gid is not taken for the later one's", async () => {
      const gid = newGid()
      const acceptedAt = Date.now() - 8 * 24 * 3_600_000
      const later = { acceptedAt: Date.now() }
      suiteClock.behindMs = 8 * 24 * 3_600_000
      await fixture.run(buildLocalCall(gid, { acceptedAt }), SUCCEED)
      suiteClock.behindMs = 0
      await expect(fixture.run(buildLocalCall(gid, later), SUCCEED)).rejects.toMatchObject({
        code: 'GID_REUSED',
      })
      expect(await fixture.queryPrepared(gid, later)).toBe('rolled-back')
      expect(await fixture.queryPrepared(gid, { acceptedAt })).toBe('committed')
      expect(await fixture.effects(gid)).toEqual(['msg'])
      // Mutant: without the instant the later message would be delivered, though nothing of it has committed.
      expect(await fixture.queryPrepared(gid)).toBe('committed')
    })

    it("A committed message is known as such, however far behind the service's clock is", async () => {
      const gid = newGid()
      const accepted = { acceptedAt: Date.now() }
      suiteClock.behindMs = 3 * 24 * 3_600_000
      await fixture.run(buildLocalCall(gid, accepted), SUCCEED)
      expect(await fixture.queryPrepared(gid, accepted)).toBe('committed')
      suiteClock.behindMs = 0
      expect(await fixture.queryPrepared(gid, accepted)).toBe('committed')
    })

    it('A gid that no row can have is refused', async () => {
      const asking = fixture.queryPrepared('x'.repeat(129))
      await expect(asking).rejects.toMatchObject({ code: 'BRANCH_CALL_INVALID' })
    })

    it('The query-back is answered over HTTP, to DTM as well', async () => {
      const [done, undone] = [newGid(), newGid()]
      await local(done)
      const ask = async (gid: string) => {
        const url = callUrl({ gid, trans_type: 'msg', branch_id: '00', op: 'msg' })
        return (await answerQueryBack(fixture, { url, headers: {} })).answer
      }
      expect([(await ask(done)).statusCode, (await ask(undone)).statusCode]).toEqual([200, 409])
    })

    for (const ending of ['commits', 'rolls back'] as const) {
      it(`The query-back waits for a local transaction that is under way and then ${ending}`, async () => {
        if (fixture.runHeld === undefined) return expect(name).toMatch(/sqlite|Redis/i)
        const gid = newGid()
        const begun = gate()
        const held = gate()
        const running = fixture.runHeld(gid, () => {
          begun.resolve()
          return held.promise
        })
        await begun.promise
        let isAnswered = false
        const asking = fixture.queryPrepared(gid).finally(() => {
          isAnswered = true
        })
        // Others come and go meanwhile.
        for (let other = 0; other < 20; other++)
          expect(await fixture.queryPrepared(newGid())).toBe('rolled-back')
        expect(isAnswered).toBe(false)
        if (ending === 'commits') held.resolve()
        else held.reject(new Error('broken on purpose'))
        if (ending === 'commits') await running
        else await expect(running).rejects.toThrow('broken on purpose')
        expect(await asking).toBe(ending === 'commits' ? 'committed' : 'rolled-back')
      })
    }

    it(`Exactly one of local transaction and query-back wins in each of ${pairs} pairs, and both agree`, async () => {
      const wins = { committed: 0, 'rolled-back': 0 }
      const pair = async (number: number): Promise<void> => {
        const gid = newGid()
        // The query-back comes first, certainly last, or a turn later, since a driver may take a turn before it sends
        // anything.
        const first = number % 3 === 0 ? fixture.queryPrepared(gid) : undefined
        const ending = local(gid).catch((error: unknown) => error)
        if (number % 10 === 5) await ending
        else if (number % 3 === 1) await new Promise((resolve) => setImmediate(resolve))
        const [outcome, ran] = await Promise.all([first ?? fixture.queryPrepared(gid), ending])
        wins[outcome]++
        if (outcome === 'committed') expect(ran).toEqual({ decision: 'run' })
        else expect(isBranchError(ran) && ran.code).toBe('MESSAGE_REFUSED')
        expect(await fixture.effects(gid)).toEqual(outcome === 'committed' ? ['msg'] : [])
        expect(await fixture.queryPrepared(gid)).toBe(outcome)
      }
      let next = 0
      const walk = async (): Promise<void> => {
        for (let number = next++; number < pairs; number = next++) await pair(number)
      }
      const startedAt = performance.now()
      await Promise.all(Array.from({ length: Math.ceil(width / 2) }, walk))
      const ms = Math.round(performance.now() - startedAt)
      console.log(`${name}: ${JSON.stringify(wins)} of ${pairs} pairs, ${ms} ms`)
      expect(wins.committed + wins['rolled-back']).toBe(pairs)
      // Both orders were seen, or the test has shown only one of them.
      expect(Math.min(wins.committed, wins['rolled-back'])).toBeGreaterThan(0)
    }, 120_000)
  })
}

function gate() {
  let resolve: () => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
