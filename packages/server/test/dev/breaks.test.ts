import type { BranchAnswer, BranchCall, BranchCaller } from '@counterstep/core'
import type { BranchId, BreakRequest, Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { Breaks, buildApp } from '../../src/index.ts'
import { createScriptedEngine } from '../scripted-engine.ts'

const SUCCESS: BranchAnswer = { result: 'success', statusCode: 200 }

function buildCall(parts: Partial<BranchCall> = {}): BranchCall {
  return {
    gid: 'g' as Gid,
    kind: 'saga',
    branchId: 'credit' as BranchId,
    op: 'action',
    attempt: 1,
    epoch: 1,
    acceptedAt: 0,
    method: 'POST',
    url: 'http://127.0.0.1:8472/credit',
    body: '{}',
    contentType: 'application/json',
    headers: {},
    timeoutMs: 10_000,
    wordsCount: false,
    ...parts,
  }
}

/** The clock goes on only when the test says so. */
class HandClock {
  #nowMs = 0
  readonly #waits = new Set<{ readonly at: number; readonly callback: () => void }>()

  after(delayMs: number, callback: () => void): () => void {
    const wait = { at: this.#nowMs + delayMs, callback }
    this.#waits.add(wait)
    return () => this.#waits.delete(wait)
  }

  goOn(ms: number): void {
    this.#nowMs += ms
    for (const wait of [...this.#waits]) {
      if (wait.at > this.#nowMs) continue
      this.#waits.delete(wait)
      wait.callback()
    }
  }
}

function openBreaks() {
  const clock = new HandClock()
  const breaks = new Breaks(clock)
  const calls: BranchCall[] = []
  const caller: BranchCaller = {
    async call(call) {
      calls.push(call)
      return SUCCESS
    },
    close: async () => undefined,
  }
  return { clock, breaks, calls, caller: breaks.wrap(caller) }
}

describe('a break', () => {
  const WAYS: readonly (readonly [BreakRequest['how'], BranchAnswer, number])[] = [
    ['answer-409', { result: 'failure', statusCode: 409, excerpt: '{"error":"broken on purpose"}' }, 0],
    ['answer-500', { result: 'unknown', statusCode: 500, excerpt: '{"error":"broken on purpose"}' }, 0],
    ['take-effect-and-lose-the-answer', { result: 'unknown', error: 'reset' }, 1],
  ]
  for (const [how, answer, calls] of WAYS) {
    it(`A call that is to ${how} does so once, and the next one reaches the service`, async () => {
      const open = openBreaks()
      open.breaks.add({ branchId: 'credit', next: 1, how })
      expect(await open.caller.call(buildCall())).toEqual(answer)
      expect(open.calls).toHaveLength(calls)
      expect(await open.caller.call(buildCall())).toEqual(SUCCESS)
      expect(open.calls).toHaveLength(calls + 1)
      expect(open.breaks.list()).toEqual([])
    })
  }

  it('A call that times out never reaches the service, and ends at its limit', async () => {
    const { breaks, caller, clock, calls } = openBreaks()
    breaks.add({ branchId: 'credit', next: 1, how: 'time-out' })
    const answer = caller.call(buildCall({ timeoutMs: 500 }))
    clock.goOn(500)
    expect(await answer).toEqual({ result: 'unknown', error: 'timeout' })
    expect(calls).toEqual([])
  })

  it('An answer that is late comes late, or not at all if the limit is sooner; the service has the call at once', async () => {
    const { breaks, caller, clock, calls } = openBreaks()
    breaks.add({ branchId: 'credit', next: 2, how: 'late', lateMs: 2_000 })
    let ended: BranchAnswer | undefined
    const late = caller.call(buildCall()).then((answer) => {
      ended = answer
    })
    expect(calls).toHaveLength(1)
    clock.goOn(1_999)
    await Promise.resolve()
    expect(ended).toBeUndefined()
    clock.goOn(1)
    await late
    expect(ended).toEqual(SUCCESS)
    const tooLate = caller.call(buildCall({ timeoutMs: 1_000 }))
    clock.goOn(1_000)
    expect(await tooLate).toEqual({ result: 'unknown', error: 'timeout' })
    expect(calls).toHaveLength(2)
  })

  it('A close ends the calls that a break holds back', async () => {
    const { breaks, caller } = openBreaks()
    breaks.add({ branchId: 'credit', next: 2, how: 'time-out' })
    const held = [caller.call(buildCall()), caller.call(buildCall())]
    await caller.close()
    for (const each of held) expect(await each).toEqual({ result: 'unknown', error: 'closed' })
  })

  const FITS: readonly (readonly [Partial<BreakRequest>, Partial<BranchCall>, boolean])[] = [
    [{ service: '127.0.0.1:8472' }, {}, true],
    [{ service: '127.0.0.1' }, {}, false],
    [{ service: 'bank-a' }, { url: 'bank-a:/debit' }, true],
    [{ service: 'bank' }, { url: 'bank-a:/debit' }, false],
    [{ service: 'http' }, {}, false],
    [{ urlPrefix: 'http://127.0.0.1:8472/cre' }, {}, true],
    [{ urlPrefix: 'http://127.0.0.1:8472/debit' }, {}, false],
    [{ url: 'http://127.0.0.1:8472/credit' }, {}, true],
    [{ url: 'http://127.0.0.1:8472/cred' }, {}, false],
    [{ url: 'http://127.0.0.1:8472' }, { url: 'http://127.0.0.1:8472/' }, true],
    [{ url: 'bank-a:/debit' }, { url: 'bank-a:/debit' }, true],
    [{ branchId: 'credit' }, {}, true],
    [{ branchId: 'cred' }, {}, false],
    [{ branchId: 'credit', op: 'action' }, {}, true],
    [{ branchId: 'credit', op: 'compensate' }, {}, false],
  ]
  for (const [target, call, isBroken] of FITS) {
    it(`A break of ${JSON.stringify(target)} ${isBroken ? 'breaks' : 'spares'} ${call.url ?? 'the credit'}`, async () => {
      const { breaks, caller } = openBreaks()
      breaks.add({ next: 1, how: 'answer-500', ...target })
      const { result } = await caller.call(buildCall(call))
      expect(result).toBe(isBroken ? 'unknown' : 'success')
    })
  }

  it('A later break of the same calls takes the place of the first, and none takes it back', () => {
    const { breaks } = openBreaks()
    breaks.add({ branchId: 'a', next: 5, how: 'answer-500' })
    breaks.add({ branchId: 'b', next: 1, how: 'late' })
    breaks.add({ branchId: 'a', next: 2, how: 'answer-409' })
    expect(breaks.list()).toEqual([
      { id: '2', branchId: 'b', next: 1, how: 'late' },
      { id: '3', branchId: 'a', next: 2, how: 'answer-409' },
    ])
    breaks.add({ branchId: 'a', next: 0, how: 'answer-409' })
    expect(breaks.list()).toHaveLength(1)
  })

  it('The fifty-first break is refused', () => {
    const { breaks } = openBreaks()
    const add = (branchId: string) => breaks.add({ branchId, next: 1, how: 'late' })
    for (let count = 1; count <= 50; count += 1) add(`b${count}`)
    expect(() => add('one-more')).toThrow()
    expect(() => add('b1')).not.toThrow()
  })
})

describe('the routes of counterstep dev', () => {
  const BAD: readonly unknown[] = [
    [],
    {},
    { branchId: 'a', how: 'late' },
    { branchId: 'a', next: 1 },
    { next: 1, how: 'late' },
    { branchId: 'a', service: 'b', next: 1, how: 'late' },
    { url: 'a', urlPrefix: 'b', next: 1, how: 'late' },
    { branchId: '', next: 1, how: 'late' },
    { branchId: 7, next: 1, how: 'late' },
    { branchId: 'a', next: -1, how: 'late' },
    { branchId: 'a', next: 1_001, how: 'late' },
    { branchId: 'a', next: 1, how: 'explode' },
    { branchId: 'a', next: 1, how: 'late', lateMs: 0 },
    { branchId: 'a', next: 1, how: 'late', op: 'undo' },
    { branchId: 'a', next: 1, how: 'late', more: true },
  ]
  const post = (app: ReturnType<typeof buildApp>, body: unknown) =>
    app.inject({
      method: 'POST',
      url: '/v1/dev/break',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    })

  it('A break is read from the body, listed, and refused where it is wrong', async () => {
    const breaks = new Breaks(new HandClock())
    const app = buildApp({ engine: createScriptedEngine(), breaks })
    const wanted = { service: 'bank-b', op: 'action', next: 1, how: 'late', lateMs: 10 }
    const answer = await post(app, wanted)
    expect([answer.statusCode, answer.json()]).toEqual([200, { breaks: [{ ...wanted, id: '1' }] }])
    expect((await app.inject({ url: '/v1/dev' })).json()).toEqual(answer.json())
    for (const body of BAD) expect([body, (await post(app, body)).statusCode]).toEqual([body, 422])
    expect(breaks.list()).toHaveLength(1)
  })

  it('No other server has these routes', async () => {
    const app = buildApp({ engine: createScriptedEngine() })
    expect((await app.inject({ url: '/v1/dev' })).statusCode).toBe(404)
    expect((await post(app, { branchId: 'a', next: 1, how: 'late' })).statusCode).toBe(404)
  })

  it('Every answer to a GET tells the time of the server', async () => {
    const app = buildApp({ engine: createScriptedEngine() })
    for (const url of ['/v1/transactions', '/v1/session', '/health/ready', '/v1/transactions/%20']) {
      const told = Number((await app.inject({ url })).headers['counterstep-now'])
      expect(Math.abs(Date.now() - told)).toBeLessThan(60_000)
    }
  })
})
