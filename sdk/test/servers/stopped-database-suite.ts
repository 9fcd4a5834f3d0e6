import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerBranch } from '../../src/http/answer-branch.ts'
import { type Barrier, type BarrierCall, BranchFailure } from '../../src/index.ts'
import { callUrl } from '../branch/call-url.ts'

/** This is a server of the test's own, with a pool of one connection to it that the barrier gets. */
export interface StoppableFixture<Tx> {
  /** Makes a barrier over the pool of one, with the default where `timeoutMs` is not given. */
  barrier(timeoutMs?: number): Barrier<Tx>
  /** Makes a barrier over the same pool, but the database stops just before it gets a COMMIT. */
  barrierStoppedAtCommit(timeoutMs: number): Barrier<Tx>
  /** Writes the effect of a call. */
  act(tx: Tx, call: BarrierCall): Promise<unknown>
  /** These are the ops whose effects committed, seen by a connection of their own. */
  effects(gid: string): Promise<readonly string[]>
  rows(gid: string): Promise<number>
  /** Takes the pool's one connection; returns what gives it back. */
  occupy(): Promise<() => void>
  /** Ends all connections of the pool, so that the next call has to connect. */
  disconnect(): Promise<void>
  pause(): Promise<void>
  resume(): Promise<void>
  close(): Promise<void>
}

const TIMEOUT_MS = 400
/** This only tells a call that ended by its own time limit from one that another limit ended. */
const SLOW_MS = 8_000

/** Defines the tests of calls while their database does not answer. */
export function stoppedDatabaseSuite<Tx>(open: () => Promise<StoppableFixture<Tx>>): void {
  let fixture: StoppableFixture<Tx>
  let gids = 0
  const newCall = (): BarrierCall => ({ gid: `stopped-${++gids}`, branchId: '01', op: 'action' })
  const acting = (call: BarrierCall) => async (tx: Tx) => {
    await fixture.act(tx, call)
  }
  /** Expects a later call on the same pool to find a connection that works, and the truth. */
  const expectRunOnce = async (call: BarrierCall): Promise<void> => {
    await fixture.barrier().run(call, acting(call))
    expect([await fixture.effects(call.gid), await fixture.rows(call.gid)]).toEqual([['action'], 1])
  }
  const thrownInTime = async (running: Promise<unknown>): Promise<unknown> => {
    const startedAt = performance.now()
    const thrown = await running.then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(performance.now() - startedAt).toBeLessThan(SLOW_MS)
    return thrown
  }

  beforeAll(async () => {
    fixture = await open()
  })
  afterAll(() => fixture.close())

  it('A call on a connection that was there before ends with 500', async () => {
    const call = newCall()
    await fixture.barrier().run(newCall(), () => undefined)
    await fixture.pause()
    const url = callUrl({ gid: call.gid, trans_type: 'saga', branch_id: call.branchId, op: call.op })
    const request = { url, headers: {}, payload: {} }
    const startedAt = performance.now()
    const { answer, error } = await answerBranch(fixture.barrier(TIMEOUT_MS), acting(call), request)
    const tookMs = performance.now() - startedAt
    await fixture.resume()
    expect(answer).toMatchObject({ statusCode: 500, body: '{"code":"BARRIER_TIMED_OUT"}' })
    expect(error).toMatchObject({ code: 'BARRIER_TIMED_OUT', meaning: 'unavailable' })
    expect(tookMs).toBeGreaterThan(TIMEOUT_MS - 5)
    expect(tookMs).toBeLessThan(SLOW_MS)
    await expectRunOnce(call)
  })

  it('A call that has to connect ends in time, and the connection that comes late is used', async () => {
    const call = newCall()
    await fixture.disconnect()
    await fixture.pause()
    const thrown = await thrownInTime(fixture.barrier(TIMEOUT_MS).run(call, acting(call)))
    await fixture.resume()
    expect(thrown).toMatchObject({ code: 'BARRIER_TIMED_OUT' })
    await expectRunOnce(call)
  })

  it('A call that waits for a connection ends in time, and no connection is lost by it', async () => {
    const call = newCall()
    const giveBack = await fixture.occupy()
    const thrown = await thrownInTime(fixture.barrier(TIMEOUT_MS).run(call, acting(call)))
    giveBack()
    expect(thrown).toMatchObject({ code: 'BARRIER_TIMED_OUT' })
    await expectRunOnce(call)
  })

  it('An effect is rolled back when the database stopped under it', async () => {
    const call = newCall()
    const running = fixture.barrier(TIMEOUT_MS).run(call, async (tx) => {
      await fixture.act(tx, call)
      await fixture.pause()
      await fixture.act(tx, call)
    })
    const thrown = await thrownInTime(running)
    await fixture.resume()
    expect(thrown).toMatchObject({ code: 'BARRIER_TIMED_OUT' })
    await expectRunOnce(call)
  })

  it('S40: A call whose signal aborts is rolled back at once, and leaves no lock while its effect goes on', async () => {
    const call = newCall()
    const controller = new AbortController()
    const running = fixture.barrier().run({ ...call, signal: controller.signal }, async (tx) => {
      await fixture.act(tx, call)
      controller.abort()
      await new Promise(() => undefined)
    })
    const thrown = await thrownInTime(running)
    expect(thrown).toMatchObject({ code: 'BARRIER_TIMED_OUT', message: expect.stringContaining('signal') })
    await expectRunOnce(call)
  })

  it('S40: A call whose signal has aborted before it begins does nothing', async () => {
    const call = { ...newCall(), signal: AbortSignal.abort() }
    const thrown = await thrownInTime(fixture.barrier().run(call, acting(call)))
    expect(thrown).toMatchObject({ code: 'BARRIER_TIMED_OUT' })
    expect(await fixture.effects(call.gid)).toEqual([])
  })

  it('A COMMIT that was not answered has an unknown outcome, and the next call agrees with what became of it', async () => {
    const call = newCall()
    const thrown = await thrownInTime(fixture.barrierStoppedAtCommit(TIMEOUT_MS).run(call, acting(call)))
    await fixture.resume()
    expect(thrown).toMatchObject({
      code: 'BARRIER_COMMIT_UNKNOWN',
      cause: { code: 'BARRIER_TIMED_OUT' },
    })
    await expectRunOnce(call)
  })

  it('A refusal by an effect is answered though the ROLLBACK is not, since it can never commit', async () => {
    const call = newCall()
    const running = fixture.barrier(TIMEOUT_MS).run(call, async (tx) => {
      await fixture.act(tx, call)
      await fixture.pause()
      throw new BranchFailure('said no')
    })
    const thrown = await thrownInTime(running)
    await fixture.resume()
    expect(thrown).toMatchObject({ message: 'said no', branchResult: 'failure' })
    await expectRunOnce(call)
  })

  it('A call whose effect never ends is ended, and can write no more', async () => {
    const call = newCall()
    let later: Promise<unknown> = Promise.resolve()
    let goOn: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const running = fixture.barrier(TIMEOUT_MS).run(call, async (tx) => {
      await fixture.act(tx, call)
      later = ended.then(() => fixture.act(tx, call))
      await later
    })
    expect(await thrownInTime(running)).toMatchObject({ code: 'BARRIER_TIMED_OUT' })
    goOn()
    await expect(later).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
    await expectRunOnce(call)
  })
}
