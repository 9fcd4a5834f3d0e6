import { GENERATIONS_MAX, SIGNALS_KEPT_MAX, SIGNALS_TAKEN_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { buildRow } from '../../test/sagas.ts'
import { call, local, ran, signalWait, timer, WorkflowFixture } from '../../test/workflows.ts'
import { findRefusal } from '../commands/refuse-command.ts'
import { decodeTransaction, encodeProgress, toFormat } from '../record/record.ts'
import { viewTransaction } from '../record/view.ts'
import { firstPlan, type WorkflowTransaction } from '../transaction.ts'
import { PLAN } from './op-progress.ts'
import { RULES } from './rules.ts'

const BAD_PLAN = /^the plan cannot be carried out: /
const GRANTS = { version: 1, grants: 3 }
const DAY_MS = 86_400_000
const AGAIN = { continue: { left: 1 } }

/** A workflow whose first plan has named these steps, and that is saved. */
function planned(...next: readonly object[]): WorkflowFixture {
  return WorkflowFixture.accepted().plan({ next }, 'any').settled()
}

/** The second generation of a workflow whose first one had a call. */
function continued(body: object = {}): WorkflowFixture {
  return WorkflowFixture.accepted(body)
    .plan({ next: [call('a')] }, 'any')
    .settled()
    .answer('a', 'action', 'success', 1)
    .settled()
    .plan({}, AGAIN)
    .settled()
}

function signal(id: string) {
  return { type: 'signal-asked', signal: { name: 's', id, digest: id, payload: `{"of":"${id}"}` } } as const
}

/** The row as another node leaves it that gives a command. */
function commandRow(fixture: WorkflowFixture, command: Parameters<typeof RULES.fold>[1]) {
  const row = { ...fixture.run.durableTransaction, sentUnknown: true }
  return RULES.fold(row, command, fixture.storeNow).next
}

describe('a continue', () => {
  it('begins the next generation in one strong save, and its plan is asked for behind it', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', { id: 7 })
    fixture.plan({}, AGAIN)
    expect([fixture.calls, fixture.isSaving]).toEqual([[], true])
    expect(fixture.settled().calls).toEqual(['plan 1'])
    expect(fixture.planCall).toMatchObject({
      ...{ gid: 'order-17', version: 1, generation: 2, plan: 1, input: { left: 1 } },
      ...{ journal: [], pending: [], grant: { from: 1, count: 0 } },
    })
  })

  it('counts every time from its begin', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1).tick(5_000)
    const at = fixture.storeNow
    fixture.plan({}, AGAIN).settled()
    expect(fixture.planCall).toMatchObject({ acceptedAt: at, startAt: at, at })
  })

  it('goes on where the clock was set back before the begin of its generation', () => {
    const { workflow } = continued()
    const setBack = (workflow.generation?.at ?? 0) - DAY_MS
    const claimed = RULES.fold(workflow, { type: 'claimed', epoch: 2, sentUnknown: true }, setBack).next
    const effects = RULES.effects(claimed, setBack)
    expect(effects).toContainEqual({ type: 'call', call: { branch: PLAN, op: 'plan' } })
  })

  it('restarts the deadline, which its generation may miss', () => {
    const fixture = continued({ deadlineMs: 1_000 })
    const begin = fixture.workflow.generation?.at ?? 0
    expect(viewTransaction(fixture.workflow, 'submitted').deadlineAt).toBe(begin + 1_000)
    expect(fixture.tick(999).workflow.status).toBe('submitted')
    expect(fixture.tick(1).settled().workflow).toMatchObject({
      status: 'failed',
      abort: { cause: 'deadline' },
    })
  })

  it('waits for no start that was delayed', () => {
    const fixture = WorkflowFixture.accepted({ delayMs: 50 }).tick(50).plan({}, AGAIN)
    expect(fixture.settled().calls).toEqual(['plan 1'])
  })

  it('lets a wait end 30 days behind its begin, and not later', () => {
    const { workflow } = continued()
    const generation = { number: 2, at: workflow.createdAt - DAY_MS, input: '0', slots: 0 }
    const wait = (ms: number) =>
      WorkflowFixture.claimed({ ...workflow, generation })
        .plan({ next: [timer('month', ms)] }, 'any')
        .settled().workflow
    expect(wait(29 * DAY_MS)).toMatchObject({ branches: [{ action: { state: 'open' } }] })
    expect(wait(29 * DAY_MS + 1)).toMatchObject({ status: 'failed', abort: { cause: 'value-unusable' } })
  })

  it('drops the waits that are open', () => {
    const fixture = planned(timer('t', 900), signalWait('s'), call('a')).tick()
    fixture.answer('a', 'action', 'success', 1).plan({}, AGAIN).settled()
    expect(fixture.workflow).toMatchObject({ steps: [], branches: [], order: [], seenAt: [] })
    expect(fixture.tick(900).calls).toEqual([])
  })

  it('has room in a journal that is full', () => {
    const value = 'x'.repeat(60_000)
    const results = (first: number) =>
      Array.from({ length: 9 }, (_, index) => ({ id: `r${first + index}`, is: 'run', name: 'r', value }))
    const fixture = WorkflowFixture.accepted().plan({ ran: results(0) }, 'now')
    expect(fixture.plan({ ran: results(9) }, 'now').workflow.plan.call.error).toBe('journal-full')
    const next = WorkflowFixture.claimed({
      ...fixture.settled().workflow,
      plan: { ...firstPlan(0), number: 2, seen: 9 },
    })
    expect(next.plan({ ran: results(9) }, AGAIN).workflow.steps).toEqual([])
  })
})

describe('what a generation shares with those before it', () => {
  it('is no branch id of a call or a wait, whose code has the same names', () => {
    const fixture = continued().plan({ next: [call('a'), timer('t', 9_000)] }, 'any')
    expect(fixture.workflow.steps.map(({ id, branch }) => [id, branch.id])).toEqual([
      ['a', 'a~2'],
      ['t', 't~2'],
    ])
    expect(viewTransaction(fixture.workflow, 'submitted').branches).toMatchObject([
      { id: 'a~2', stepId: 'a' },
      { id: 't~2', stepId: 't' },
    ])
  })

  it('is no value: a compensation uses the answer of its own step', () => {
    const fixture = continued()
      .plan({ next: [call('a')] }, 'all')
      .settled()
    fixture.answer('a', 'action', 'success', { id: 8 }).plan({}, { failed: { code: 'NO', message: '' } })
    expect(fixture.settled().calls).toEqual(['a compensate'])
    expect(fixture.requestOf('a', 'compensate').body).toEqual({ of: 8 })
  })

  it('is no id that leaves no room for the number', () => {
    const id = 'x'.repeat(63)
    expect(continued().plan({ next: [call(id)] }, 'any').workflow.attention).toContain('no room for ~2')
  })

  it('is no slot, whether it was used or only granted', () => {
    const fixture = WorkflowFixture.accepted(GRANTS).plan({ ran: [ran('a', 1)] }, AGAIN)
    expect([fixture.calls, fixture.isSaving]).toEqual([[], true])
    expect(fixture.settled().calls).toEqual(['plan 1'])
    expect(fixture.planCall.grant).toEqual({ from: 4, count: 3 })
    expect(fixture.plan({ ran: [ran('a', 1)] }, 'now').workflow.attention).toContain('must be one from ~4')
    fixture.settled().tick(1_000)
    fixture.plan({ ran: [ran('a', 4)] }, AGAIN).settled()
    expect(fixture.planCall.grant).toEqual({ from: 7, count: 3 })
  })

  it('is no slot of a step that had a call of its own', () => {
    const fixture = planned(local('a', 1), local('b', 2)).answer('a', 'action', 'success', 1)
    fixture.answer('b', 'action', 'success', 1).plan({}, 'any').plan({}, AGAIN).settled()
    expect(fixture.planCall.grant).toEqual({ from: 3, count: 0 })
    expect(fixture.plan({ next: [local('a', 2)] }, 'any').workflow.attention).toContain('from ~3 on')
  })

  it('is nothing to undo: an abort undoes what the new one did, and seals its slots alone', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
      .plan({ ran: [ran('a', 1)] }, AGAIN)
      .settled()
    fixture
      .plan({ ran: [ran('b', 4)] }, 'now')
      .settled()
      .command({ type: 'abort-asked' })
    expect(fixture.workflow.steps.map(({ branch }) => branch.id)).toEqual(['~4', '~5', '~6', '~7'])
  })

  it('is the version of the code', () => {
    const fixture = continued()
    expect(fixture.plan({}, 'any', { version: 2 }).workflow.attention).toContain('of another version')
  })
})

describe('a continue is no plan', () => {
  for (const [what, fixture] of [
    ['while a call is pending', () => planned(call('a'), call('b')).answer('a', 'action', 'success', 1)],
    [
      'behind the point of no return',
      () =>
        planned(call('p', { role: 'pivot', compensation: undefined })).answer('p', 'action', 'success', 1),
    ],
    [
      'behind the last generation that may be',
      () => {
        const { workflow } = continued()
        const generation = { number: GENERATIONS_MAX, at: workflow.createdAt, input: '0', slots: 0 }
        return WorkflowFixture.claimed({ ...workflow, generation })
          .plan({ next: [call('a')] }, 'any')
          .settled()
          .answer('a', 'action', 'success', 1)
      },
    ],
    ['where a later generation has done nothing', () => continued()],
  ] as const) {
    it(what, () => expect(fixture().plan({}, AGAIN).workflow.attention).toMatch(BAD_PLAN))
  }

  it('with a step beside it', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1)
    expect(fixture.plan({ next: [call('b')] }, AGAIN).workflow.attention).toContain(
      'must be empty at the end',
    )
  })

  it('if it answers a plan of another generation', () => {
    expect(continued().plan({}, AGAIN, { generation: 1 }).workflow.attention).toContain('another generation')
  })
})

describe('a continue behind a failure', () => {
  it('begins nothing before the failed step is compensated', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'failure').settled()
    fixture.plan({}, AGAIN).settled()
    expect(fixture.workflow).toMatchObject({ plan: { until: 'end' }, steps: [{ id: 'a' }] })
    expect(toFormat(fixture.workflow)).toBe(7)
    fixture.answer('a', 'compensate', 'success')
    expect([fixture.workflow.generation?.number, fixture.isSaving]).toEqual([2, true])
  })

  it('begins nothing before the slots behind it are sealed', () => {
    const failed = { value: undefined, failed: { code: 'NO', message: '' } }
    const fixture = WorkflowFixture.accepted(GRANTS).plan({ ran: [ran('a', 1, failed)] }, 'now')
    fixture.settled().plan({}, AGAIN).settled()
    for (const id of ['~3', '~2', 'a']) {
      expect(fixture.workflow.generation).toBeUndefined()
      fixture.answer(id, 'compensate', 'success')
    }
    expect(fixture.settled().planCall).toMatchObject({ generation: 2, grant: { from: 4, count: 3 } })
  })

  it('is forgotten by an abort, which undoes the whole generation', () => {
    const fixture = planned(call('a'), call('b')).answer('b', 'action', 'success', 1)
    fixture.answer('a', 'action', 'failure').settled().plan({}, 'any').plan({}, AGAIN).settled()
    fixture.command({ type: 'abort-asked' }).settled()
    fixture.answer('a', 'compensate', 'success').answer('b', 'compensate', 'success')
    expect(fixture.workflow).toMatchObject({ status: 'failed', steps: [{ id: 'a' }, { id: 'b' }] })
  })

  it('is not overdue any more, like the end of a workflow', () => {
    const fixture = WorkflowFixture.accepted({ deadlineMs: 1_000 })
      .plan({ next: [call('a')] }, 'any')
      .settled()
    fixture.answer('a', 'action', 'failure').settled().plan({}, AGAIN).settled().tick(2_000)
    expect(fixture.workflow.status).toBe('submitted')
  })
})

describe('signals at a continue', () => {
  const waiting = () => planned(signalWait('s'), call('a')).tick().answer('a', 'action', 'success', 1)

  it('that no wait has taken are kept', () => {
    const fixture = planned(call('a')).command(signal('1')).settled()
    fixture.answer('a', 'action', 'success', 1).plan({}, AGAIN).settled()
    expect(fixture.workflow.signals).toEqual([signal('1').signal])
  })

  it('that a wait has taken which no plan has seen are kept again, and taken by the next wait', () => {
    const fixture = waiting().command(signal('1')).settled()
    expect(fixture.workflow.signals).toMatchObject([{ takenBy: 0 }])
    fixture.plan({}, AGAIN).settled()
    expect(fixture.workflow.signals).toEqual([signal('1').signal])
    fixture
      .plan({ next: [signalWait('s')] }, 'any')
      .settled()
      .settled()
    expect(fixture.planCall.journal).toMatchObject([{ id: 's', value: { of: '1' } }])
  })

  it('that its last plan call brought and the function has not seen are kept again', () => {
    const both = () => {
      const fixture = waiting().command(signal('1')).settled()
      // This plan call saw the end of the call alone. The next one brings the signal, too.
      return fixture.plan({ next: [call('b')] }, 'any').settled()
    }
    const unseen = both().answer('b', 'action', 'success', 1).settled()
    expect(unseen.planCall.journal.map(({ id }: { id: string }) => id)).toEqual(['a', 's'])
    unseen.plan({}, { ...AGAIN, seen: 1 }).settled()
    expect(unseen.workflow.signals).toEqual([signal('1').signal])
    const seen = both().answer('b', 'action', 'success', 1).settled().plan({}, AGAIN).settled()
    expect(seen.workflow.signals).toMatchObject([{ id: '1', takenBy: -1 }])
    const fixture = both().answer('b', 'action', 'success', 1).settled()
    expect(fixture.plan({}, { ...AGAIN, seen: 3 }).workflow.attention).toMatch(BAD_PLAN)
  })

  it('that the code has seen stay taken, so that the same signal counts once', () => {
    const fixture = planned(signalWait('s', { timeoutMs: 900 }))
      .tick()
      .command(signal('1'))
      .settled()
    fixture.plan({}, AGAIN).settled().command(signal('1'))
    expect(fixture.workflow.signals).toMatchObject([{ id: '1', takenBy: -1 }])
    expect(viewTransaction(fixture.workflow, 'submitted').signals).toEqual([
      { name: 's', id: '1', state: 'taken' },
    ])
    fixture
      .plan({ next: [call('a')] }, 'any')
      .settled()
      .answer('a', 'action', 'success', 1)
      .plan({}, AGAIN)
    expect(fixture.workflow.signals).toMatchObject([{ id: '1', takenBy: -1 }])
  })

  it('without a payload are kept again with null, as the code would have got it', () => {
    const fixture = waiting()
    const { payload: _, ...bare } = signal('1').signal
    fixture.command({ type: 'signal-asked', signal: bare }).settled().plan({}, AGAIN)
    expect(fixture.workflow.signals).toEqual([{ ...bare, payload: 'null' }])
  })

  it('for whose payload the journal had no room are kept again with it', () => {
    const large = { ...signal('1').signal, payload: JSON.stringify('y'.repeat(16_000)) }
    const results = [...Array<number>(17).fill(60_000), 20_000].map((length, index) => ({
      ...{ id: `r${index}`, is: 'run', name: 'r', value: 'x'.repeat(length) },
    }))
    const fixture = WorkflowFixture.accepted()
      .plan({ ran: results, next: [signalWait('s'), call('a')] }, 'any')
      .settled()
      .answer('a', 'action', 'success', 1)
      .settled()
    // The signal comes while the plan is asked for that begins the next generation.
    expect(fixture.calls).toEqual(['plan 2'])
    fixture.command({ type: 'signal-asked', signal: large }).settled()
    const wait = results.length
    expect(fixture.workflow.branches[wait]?.action).toMatchObject({ error: 'journal-full' })
    expect(fixture.workflow.signals).toEqual([{ ...large, takenBy: wait }])
    fixture.plan({}, AGAIN).settled()
    expect(fixture.workflow.signals).toEqual([large])
    fixture
      .plan({ next: [signalWait('s')] }, 'any')
      .settled()
      .settled()
    expect(fixture.planCall.journal).toMatchObject([{ id: 's', value: 'y'.repeat(16_000) }])
  })

  it('for whose payloads neither the journal nor the row has room are refused', () => {
    const fixture = waiting()
    const payload = JSON.stringify('y'.repeat(16_000))
    const taken = Array.from({ length: 16 }, (_, index) => ({
      ...signal(`${index}`).signal,
      payload,
      takenBy: 0,
    }))
    const { workflow } = fixture
    const next = { type: 'signal-asked', signal: { ...signal('next').signal, payload } } as const
    const refuse = (signals: readonly object[]) =>
      findRefusal({ ...workflow, signals } as WorkflowTransaction, next, fixture.storeNow)
    expect(refuse(taken.slice(1))).toBeUndefined()
    expect(refuse(taken)).toBe('too-many-signals')
  })

  it('that many waits have taken are all kept again, and the oldest of those that were seen are forgotten', () => {
    const fixture = waiting().command(signal('1')).settled()
    const many = Array.from({ length: SIGNALS_TAKEN_MAX }, (_, index) => {
      const { payload: _payload, ...seen } = signal(`seen-${index}`).signal
      return { ...seen, takenBy: -1 }
    })
    const signals = [...(fixture.workflow.signals ?? []), ...many, { ...many[0], id: 'newest' }]
    const next = WorkflowFixture.claimed({ ...fixture.workflow, signals } as WorkflowTransaction)
    next.answer('a', 'action', 'success', 1).settled().plan({}, AGAIN).settled()
    const ids = next.workflow.signals?.map(({ id }) => id)
    expect(ids).toHaveLength(1 + SIGNALS_TAKEN_MAX)
    expect([ids?.[0], ids?.[1], ids?.at(-1)]).toEqual(['1', 'seen-1', 'newest'])
  })
})

describe('several open waits for one signal', () => {
  const waitFor = (id: string) => ({ ...signalWait('s', { timeoutMs: 900 }), id })
  const takers = ({ workflow }: WorkflowFixture) =>
    workflow.signals?.map(({ takenBy = -1 }) => workflow.steps[takenBy]?.id)

  it('of several plans: the newest takes it, since the code may have turned from the others', () => {
    const fixture = planned(waitFor('first'), call('a')).tick().answer('a', 'action', 'success', 1).settled()
    fixture
      .plan({ next: [waitFor('second'), waitFor('third')] }, 'any')
      .settled()
      .tick()
    fixture.command(signal('1')).settled()
    expect(takers(fixture)).toEqual(['second'])
    fixture.command(signal('2')).command(signal('3')).settled()
    expect(takers(fixture)).toEqual(['second', 'third', 'first'])
  })

  it('of several plans, of which the row has the newest as not open yet: it is kept for that one', () => {
    const fixture = planned(waitFor('first'), call('a')).tick().answer('a', 'action', 'success', 1).settled()
    fixture.plan({ next: [waitFor('second')] }, 'any').settled()
    // The row of another node lacks the opening, which is lazy.
    const row = commandRow(fixture, signal('1')) as WorkflowTransaction
    expect(row.branches.map(({ action }) => action.state)).toEqual(['open', 'succeeded', 'idle'])
    expect(row.signals).toEqual([signal('1').signal])
    fixture.tick().command({ type: 'retry-asked' }).conflict().reread(row).settled()
    expect(takers(fixture)).toEqual(['second'])
  })

  it('of which the newest has not opened in the row: a bounded number is kept for that one', () => {
    const fixture = planned(waitFor('first'), call('a')).tick().answer('a', 'action', 'success', 1).settled()
    fixture.plan({ next: [waitFor('second')] }, 'any').settled()
    let row = commandRow(fixture, signal('0')) as WorkflowTransaction
    for (let id = 1; id < SIGNALS_KEPT_MAX; id++) {
      expect(findRefusal(row, signal(String(id)), fixture.storeNow)).toBeUndefined()
      row = RULES.fold(row, signal(String(id)), fixture.storeNow).next as WorkflowTransaction
    }
    expect(findRefusal(row, signal('more'), fixture.storeNow)).toBe('too-many-signals')
  })

  it('of which the row has the newest as not open: its signal goes to no older one when states are merged', () => {
    const fixture = planned(waitFor('first'), call('a')).tick().answer('a', 'action', 'success', 1).settled()
    fixture.plan({ next: [waitFor('second')] }, 'any').settled()
    const row = commandRow(fixture, signal('1'))
    // The newest one has taken another signal here, whose save meets the row.
    fixture.tick().command(signal('2')).conflict().reread(row).settled()
    expect(takers(fixture)?.[0]).toBe('second')
    expect(takers(fixture)).not.toContain('first')
  })

  it('of one plan: the first takes it', () => {
    const fixture = planned(waitFor('first'), waitFor('second')).tick().command(signal('1')).settled()
    expect(takers(fixture)).toEqual(['first'])
  })
})

describe('a continue that is not durable when another node', () => {
  it('stores a signal is asked for again, and loses nothing', () => {
    const fixture = planned(signalWait('s'), call('a')).tick().answer('a', 'action', 'success', 1)
    const row = commandRow(fixture, signal('1'))
    fixture.plan({}, AGAIN).conflict().reread(row).settled()
    expect(fixture.workflow).toMatchObject({ plan: { number: 2 }, signals: [{ id: '1' }] })
    expect(fixture.workflow.generation).toBeUndefined()
    // Our answer of the call was not in the row, so it is asked for again, and no list of sent calls is known.
    expect(fixture.run.sentListKnown).toBe(false)
    expect(fixture.workflow.branches[1]?.action.state).toBe('calling')
    expect(fixture.planCall.journal).toMatchObject([{ id: 's', value: { of: '1' } }])
  })

  it('stores an abort is undone whole', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
      .plan({ next: [call('a')] }, 'any')
      .settled()
    fixture.answer('a', 'action', 'success', 1).settled()
    const row = commandRow(fixture, { type: 'abort-asked' }) as WorkflowTransaction
    fixture
      .plan({ ran: [ran('b', 1)] }, AGAIN)
      .conflict()
      .reread(row)
      .settled()
    expect(fixture.workflow).toMatchObject({ status: 'aborting', abort: { branches: [0, 1, 2, 3] } })
    for (const id of ['~3', '~2', '~1', 'a']) fixture.answer(id, 'compensate', 'success')
    expect(fixture.workflow.status).toBe('failed')
  })
})

describe('the record of a later generation', () => {
  it('has a format of its own, and goes on as it was', () => {
    const fixture = continued(GRANTS)
    for (const each of [fixture.workflow, fixture.plan({ next: [call('a')] }, 'any').workflow]) {
      expect(toFormat(each)).toBe(7)
      expect(decodeTransaction(buildRow(each))).toEqual(each)
    }
    const next = WorkflowFixture.claimed(continued().run.durableTransaction)
    expect([next.calls, next.planCall.generation]).toEqual([['plan 1'], 2])
  })

  it('has no trace of the earlier ones but their last slot', () => {
    const text = encodeProgress(continued(GRANTS).workflow)
    expect(text).toContain('"slots":3')
    expect(text).not.toContain('http://a.test')
  })

  it('is shown with its number and its begin', () => {
    const { workflow } = continued()
    expect(viewTransaction(workflow, 'submitted')).toMatchObject({
      createdAt: workflow.createdAt,
      workflow: { generation: 2, generationAt: workflow.generation?.at, plan: 1, steps: 0 },
    })
  })

  for (const [what, change] of [
    ['a number below 2', { number: 1 }],
    ['no slots', { slots: undefined }],
    ['a begin that is no instant', { at: 'now' }],
    ['no input', { input: undefined }],
  ] as const) {
    it(`with ${what} is damaged`, () => {
      const { workflow } = continued()
      const generation = { ...workflow.generation, ...change } as WorkflowTransaction['generation']
      const damaged = encodeProgress({ ...workflow, generation } as WorkflowTransaction)
      expect(() => decodeTransaction(buildRow(workflow, { progress: damaged }))).toThrow('list of steps')
    })
  }
})
