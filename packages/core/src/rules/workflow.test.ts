import { describe, expect, it } from 'vitest'
import { buildRow } from '../../test/sagas.ts'
import { call, local, signalWait, startWorkflow, timer, WorkflowFixture } from '../../test/workflows.ts'
import { AssertionError } from '../errors.ts'
import { PARKED_AT } from '../ports/store.ts'
import { decodeTransaction, encodeProgress, toFormat } from '../record/record.ts'
import { viewTransaction } from '../record/view.ts'
import { RULES } from './rules.ts'

const BAD_PLAN = /^the plan cannot be carried out: /

/** A workflow whose first plan has named these steps, and that is saved. */
function planned(...next: readonly object[]): WorkflowFixture {
  return WorkflowFixture.accepted().plan({ next }, 'any').saved()
}

describe('a plan', () => {
  it('is asked for at the accept, with the input and nothing in its journal', () => {
    const fixture = WorkflowFixture.accepted()
    expect(fixture.calls).toEqual(['plan 1'])
    expect(fixture.planCall).toMatchObject({
      v: 1,
      gid: 'order-17',
      workflow: 'order',
      generation: 1,
      plan: 1,
      input: { sku: 'a' },
      journal: [],
      pending: [],
      grant: { from: 1, count: 0 },
    })
    expect(fixture.planCall).not.toHaveProperty('version')
  })

  it('has its steps saved before any of them is called', () => {
    const fixture = WorkflowFixture.accepted().plan({ next: [call('a'), call('b')] }, 'all')
    expect([fixture.calls, fixture.isSaving]).toEqual([[], true])
    expect(fixture.saved().calls).toEqual(['a action', 'b action'])
  })

  it('brings the answers as they were, in the order in which the steps ended', () => {
    const fixture = planned(call('a'), call('b')).answer('b', 'action', 'success', { id: 7 })
    expect(fixture.calls).toEqual(['plan 2'])
    expect(fixture.planCall).toMatchObject({
      version: 1,
      journal: [{ id: 'b', is: 'call', name: 'http://b.test/do', value: { id: 7 } }],
      pending: [{ id: 'a', is: 'call' }],
    })
  })

  it('keeps the digits of a number', () => {
    const fixture = planned(call('a'))
    const position = fixture.positionOf('a')
    fixture.step({
      type: 'answered',
      call: { branch: position, op: 'action' },
      attempt: 1,
      answer: { result: 'success', body: '{"id":1.10}' },
      durationMs: 1,
      jitter01: 0,
    })
    expect(JSON.stringify(fixture.workflow.branches[position]?.action.values)).toContain('1.10')
  })

  it('waits for all that is pending, if it says so', () => {
    const fixture = WorkflowFixture.accepted()
      .plan({ next: [call('a'), call('b')] }, 'all')
      .saved()
    expect(fixture.answer('a', 'action', 'success', 1).calls).toEqual([])
    expect(fixture.answer('b', 'action', 'success', 2).calls).toEqual(['plan 2'])
  })

  it('may be asked for again at once, with what the code itself has run', () => {
    const ran = [{ id: 'quote', is: 'run', name: 'quote', value: 4 }]
    const fixture = WorkflowFixture.accepted().plan({ ran }, 'now')
    expect(fixture.calls).toEqual(['plan 2'])
    expect(fixture.planCall.journal).toMatchObject([{ id: 'quote', is: 'run', value: 4 }])
  })

  it('puts what the code has run before what ended meanwhile', () => {
    const fixture = planned(call('a'), call('b')).answer('a', 'action', 'success', 1)
    fixture.answer('b', 'action', 'success', 2)
    const ran = [{ id: 'r', is: 'run', name: 'r', value: 3 }]
    fixture.plan({ ran }, 'any')
    expect(fixture.planCall.journal.map(({ id }) => id)).toEqual(['a', 'r', 'b'])
  })

  it('gives each entry the instant of the plan that brought it first', () => {
    const fixture = planned(call('a'), call('b'))
    fixture.now += 50
    fixture.answer('a', 'action', 'success', 1)
    const first = fixture.planCall.at
    fixture.now += 50
    fixture.plan({}, 'any').answer('b', 'action', 'success', 2)
    expect(fixture.planCall.journal.map(({ at }) => at - first)).toEqual([0, 50])
  })

  it('leaves nothing of its answer to be shown: the payloads of its steps stand in it', () => {
    const { call: made } = planned(call('a', { payload: { card: 'secret' } })).workflow.plan
    expect(made).toMatchObject({ state: 'succeeded', statusCode: 200 })
    expect(made).not.toHaveProperty('answer')
  })

  it('that is lost is opened anew by the next owner, and nothing depends on it', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1)
    expect(fixture.calls).toEqual(['plan 2'])
    const next = WorkflowFixture.claimed(fixture.run.durableTransaction)
    expect(next.calls).toEqual(['a action'])
    expect(next.workflow.plan.number).toBe(1)
  })

  it('costs two writes and one for each call, one after the other', () => {
    const fixture = WorkflowFixture.accepted()
    for (const id of ['a', 'b', 'c'])
      fixture
        .plan({ next: [call(id)] }, 'all')
        .saved()
        .answer(id, 'action', 'success', 1)
    fixture.plan({}, { done: 'ok' }).saved()
    expect(fixture.workflow.status).toBe('succeeded')
    // The accept is not among them.
    expect(fixture.saves).toBe(4)
  })
})

describe('the end', () => {
  it('is durable together with the result', () => {
    const fixture = WorkflowFixture.accepted().plan({}, { done: { payment: 7 } })
    expect(fixture.run.save?.hold).toBe('finish')
    fixture.saved()
    expect(viewTransaction(fixture.workflow, 'succeeded')).toMatchObject({ result: { payment: 7 } })
  })

  it('drops the waits that are open', () => {
    const fixture = planned(timer('t', 900), signalWait('s', { timeoutMs: 950 })).tick()
    fixture.step({
      type: 'command',
      command: { type: 'signal-asked', signal: { name: 's', id: '1', digest: 'x' } },
    })
    fixture.saved()
    fixture.plan({}, { done: null })
    expect(fixture.workflow).toMatchObject({ status: 'succeeded' })
    expect(fixture.workflow.branches.some(({ action }) => action.state === 'open')).toBe(false)
  })

  it('by a failure of the code undoes what ran, the last planned first', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', { id: 1 })
    fixture
      .plan({ next: [call('b')] }, 'all')
      .saved()
      .answer('b', 'action', 'success', { id: 2 })
    fixture.plan({}, { failed: { code: 'NO', message: 'nobody approved' } })
    expect(fixture.calls).toEqual([])
    expect(fixture.saved().calls).toEqual(['b compensate'])
    expect(fixture.requestOf('b', 'compensate')).toEqual({ url: 'http://b.test/undo', body: { of: 2 } })
    expect(fixture.answer('b', 'compensate', 'success').calls).toEqual(['a compensate'])
    fixture.answer('a', 'compensate', 'success').saved()
    expect(viewTransaction(fixture.workflow, 'failed')).toMatchObject({
      status: 'failed',
      abort: { cause: 'workflow-failed', code: 'NO', message: 'nobody approved' },
    })
  })
})

describe('a step that fails', () => {
  it('is saved, then compensated at once, while the code goes on', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'failure', {
      code: 'DECLINED',
      message: 'no money',
    })
    expect([fixture.calls, fixture.isSaving]).toEqual([[], true])
    expect([...fixture.saved().calls].sort()).toEqual(['a compensate', 'plan 2'])
    expect(fixture.planCall.journal).toMatchObject([
      { id: 'a', failed: { code: 'DECLINED', message: 'no money' } },
    ])
  })

  it('tells the code what its service said, whatever people are shown of that', () => {
    const said = { code: 'DECLINED', message: 'no money', details: { limits: 'x'.repeat(5_000) } }
    const fixture = planned(call('a')).step({
      type: 'answered',
      call: { branch: 0, op: 'action' },
      attempt: 1,
      answer: { result: 'failure', statusCode: 409, body: JSON.stringify(said) },
      durationMs: 1,
      jitter01: 0,
    })
    const before = viewTransaction(planned(call('a')).workflow, 'submitted').workflow?.journalBytes ?? 0
    expect(fixture.saved().planCall.journal[0]?.failed).toEqual(said)
    const view = viewTransaction(fixture.workflow, 'submitted')
    expect(view.workflow?.journalBytes).toBe(before + JSON.stringify(said).length)
    expect(JSON.stringify(view)).not.toContain('DECLINED')
    expect(decodeTransaction(buildRow(fixture.workflow))).toEqual(fixture.workflow)
  })

  it('tells the code no longer code and message than the code itself may throw', () => {
    const said = { code: 'C'.repeat(100), message: 'm'.repeat(3_000) }
    const { planCall } = planned(call('a')).answer('a', 'action', 'failure', said).saved()
    expect(planCall.journal[0]?.failed).toEqual({ code: 'C'.repeat(64), message: 'm'.repeat(1_024) })
  })

  it('has a text that is no JSON as its message', () => {
    const { planCall } = planned(call('a')).answer('a', 'action', 'failure', 'sold out').saved()
    expect(planCall.journal[0]?.failed).toEqual({ code: 'BRANCH_FAILED', message: '"sold out"' })
  })

  it('tells the code no details that are nested so deep that the handler would refuse the call', () => {
    const nest = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
    for (const [levels, isTold] of [
      [32, true],
      [33, false],
    ] as const) {
      const said = { code: 'DECLINED', message: 'no', details: nest(levels) }
      const { planCall } = planned(call('a')).answer('a', 'action', 'failure', said).saved()
      const [entry] = planCall.journal
      expect(entry?.failed).toEqual(isTold ? said : { code: 'DECLINED', message: 'no' })
    }
  })

  it('tells the code no details that would make the handler refuse the call', () => {
    const details = JSON.parse('{"a":{"__proto__":1}}')
    const { planCall } = planned(call('a'))
      .answer('a', 'action', 'failure', { code: 'DECLINED', message: 'no', details })
      .saved()
    expect(planCall.journal[0]?.failed).toEqual({ code: 'DECLINED', message: 'no' })
  })

  it('keeps the workflow from its end until it is compensated', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'failure').saved()
    fixture.plan({}, { done: 1 }).saved()
    expect(fixture.workflow.status).toBe('submitted')
    fixture.answer('a', 'compensate', 'success')
    expect(fixture.workflow).toMatchObject({ status: 'succeeded', result: '1' })
  })

  it('is sealed at the handler even if it has nothing to undo', () => {
    const fixture = planned(local('a', 1, { undo: false }))
      .answer('a', 'action', 'failure')
      .saved()
    expect(fixture.calls).toContain('a compensate')
  })

  it('and that has no compensation needs none', () => {
    const fixture = planned({ ...call('a'), branch: { action: 'http://a.test/do' } })
    fixture.answer('a', 'action', 'failure').saved()
    expect(fixture.calls).toEqual(['plan 2'])
    expect(fixture.plan({}, { done: 1 }).workflow.status).toBe('succeeded')
  })

  it('whose limit is exhausted turns the workflow around without asking the code', () => {
    const fixture = planned(call('a', { retry: { limit: 1 } })).answer('a', 'action', 'unknown')
    expect(fixture.workflow).toMatchObject({
      status: 'aborting',
      abort: { cause: 'retry-limit', branches: [0] },
    })
  })
})

it('A call of a workflow that this node may not make does not count against its limit', () => {
  const fixture = planned(call('a', { retry: { limit: 1 } }))
  const answer = { result: 'unknown', error: 'denied-target' } as const
  const denied = {
    call: { branch: 0, op: 'action' },
    attempt: 1,
    answer,
    durationMs: 3,
    jitter01: 0,
  } as const
  fixture
    .step({ type: 'answered', ...denied })
    .saved()
    .tick(5_000)
  expect(fixture.workflow.status).toBe('submitted')
  fixture.answer('a', 'action', 'unknown')
  expect(fixture.workflow).toMatchObject({ status: 'aborting', abort: { cause: 'retry-limit' } })
})

describe('a local step', () => {
  it('is called at the handler, and its undo gets what it answered', () => {
    const fixture = planned(local('reserve', 1))
    const body = { v: 1, workflow: 'order', version: 1, step: 'reserve', input: { of: 'reserve' } }
    expect(fixture.requestOf('reserve', 'action')).toEqual({
      url: 'http://shop.test/workflows',
      body: { ...body, idempotencyKey: 'order-17/~1' },
    })
    const undo = { ...body, idempotencyKey: 'order-17/~1/undo' }
    expect(fixture.requestOf('reserve', 'compensate').body).toEqual(undo)
    fixture.answer('reserve', 'action', 'success', { id: 7 })
    expect(fixture.requestOf('reserve', 'compensate').body).toEqual({ ...undo, value: { id: 7 } })
    expect(fixture.planCall).toMatchObject({
      grant: { from: 2 },
      journal: [{ slot: '~1', value: { id: 7 } }],
    })
  })

  it('without an undo is not called when the workflow is undone', () => {
    const fixture = planned(local('a', 1, { undo: false }), local('b', 2))
    fixture.answer('a', 'action', 'success', 1).answer('b', 'action', 'success', 2)
    fixture.command({ type: 'abort-asked' }).saved()
    expect(fixture.calls).toEqual(['b compensate'])
  })
})

describe('an abort', () => {
  it('while a plan call is under way asks no code, and no step of its late answer is called', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', { id: 1 })
    fixture.command({ type: 'abort-asked', reason: 'stop it' })
    fixture.plan({ next: [call('late')] }, 'all').saved()
    expect(fixture.workflow.steps.map(({ id }) => id)).toEqual(['a'])
    expect(fixture.calls).toEqual(['a compensate'])
    expect(fixture.answer('a', 'compensate', 'success').workflow.status).toBe('failed')
  })

  it('by another node forgets steps that were planned and not saved', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', { id: 1 })
    const row = fixture.run.durableTransaction
    fixture.plan({ next: [call('b')] }, 'all')
    const aborted = RULES.fold({ ...row, sentUnknown: true }, { type: 'abort-asked' }, fixture.storeNow).next
    fixture.conflict().reread(aborted).saved()
    expect(fixture.calls).toEqual(['a compensate'])
  })

  it('waits for the own call of a step before it is compensated', () => {
    const fixture = planned(call('a')).command({ type: 'abort-asked' }).saved()
    expect(fixture.calls).toEqual([])
    fixture.answer('a', 'action', 'success', { id: 5 })
    expect([fixture.calls, fixture.isSaving]).toEqual([[], true])
    expect(fixture.saved().calls).toEqual(['a compensate'])
    expect(fixture.requestOf('a', 'compensate').body).toEqual({ of: 5 })
  })

  it('by the deadline needs no code', () => {
    const fixture = WorkflowFixture.accepted({ deadlineMs: 500 })
      .plan({ next: [call('a')] }, 'any')
      .saved()
    fixture.answer('a', 'action', 'unknown').saved().tick(600)
    expect(fixture.workflow).toMatchObject({ status: 'aborting', abort: { cause: 'deadline' } })
  })
})

describe('a pivot', () => {
  const pivot = (id: string) => ({ ...call(id), branch: { action: `http://${id}.test/do`, role: 'pivot' } })

  it('is marked in the save that plans it, and nothing turns the workflow around after that', () => {
    const fixture = WorkflowFixture.accepted({ deadlineMs: 500 }).plan({ next: [pivot('p')] }, 'all')
    expect(fixture.workflow.noReturnAt).toBeDefined()
    fixture.saved().tick(600)
    expect(fixture.command({ type: 'abort-asked' }).workflow.status).toBe('submitted')
  })

  it('that fails takes the mark away', () => {
    const fixture = WorkflowFixture.accepted()
      .plan({ next: [pivot('p')] }, 'all')
      .saved()
    fixture.answer('p', 'action', 'failure').saved()
    expect(fixture.workflow.noReturnAt).toBeUndefined()
    expect(fixture.plan({ next: [call('a')] }, 'all').workflow.steps).toHaveLength(2)
  })

  for (const next of [
    [signalWait('s'), pivot('p')],
    [timer('t', 900), pivot('p')],
  ]) {
    it(`may stand beside a ${next[0]?.is} that cannot fail`, () => {
      expect(WorkflowFixture.accepted().plan({ next }, 'any').saved().calls).toEqual(['p action'])
    })
  }

  for (const [what, next] of [
    ['stands beside a call', [pivot('p'), call('a')]],
    ['stands beside a signal whose timeout aborts', [pivot('p'), signalWait('s', { onTimeout: 'abort' })]],
    ['is one of two', [pivot('p'), pivot('q')]],
  ] as const) {
    it(`that ${what} is a bad plan`, () => {
      expect(WorkflowFixture.accepted().plan({ next }, 'all').workflow.attention).toMatch(BAD_PLAN)
    })
  }

  it('lets only what cannot fail follow', () => {
    const sure = (id: string) => ({
      ...call(id),
      branch: { action: `http://${id}.test/do`, role: 'retriable' },
    })
    const fixture = WorkflowFixture.accepted()
      .plan({ next: [pivot('p')] }, 'all')
      .saved()
    fixture.answer('p', 'action', 'success', 1)
    expect(fixture.plan({ next: [call('a')] }, 'all').workflow.attention).toMatch(BAD_PLAN)
    fixture.saved().tick(1_000)
    fixture.plan({ next: [sure('mail')] }, 'all').saved()
    expect(fixture.calls).toEqual(['mail action'])
    fixture.answer('mail', 'action', 'failure')
    expect(fixture.workflow).toMatchObject({ status: 'submitted' })
    expect(fixture.workflow.attention).toContain('answered failure')
  })

  it('lets the code fail no more', () => {
    const fixture = WorkflowFixture.accepted()
      .plan({ next: [pivot('p')] }, 'all')
      .saved()
    fixture.answer('p', 'action', 'success', 1)
    fixture.plan({}, { failed: { code: 'X', message: '' } })
    expect(fixture.workflow).toMatchObject({ status: 'submitted' })
    expect(fixture.workflow.attention).toMatch(BAD_PLAN)
  })
})

describe('an answer that is no plan', () => {
  for (const [what, answer] of [
    ['a 409 of a gateway', { result: 'failure', statusCode: 409 }],
    ['a 500', { result: 'unknown', statusCode: 500 }],
    ['a 201', { result: 'success', statusCode: 201 }],
  ] as const) {
    it(`such as ${what} is unknown and asked again`, () => {
      const fixture = planned(call('a')).answer('a', 'action', 'success', 1).planFails(answer)
      expect(fixture.workflow).toMatchObject({
        status: 'submitted',
        plan: { call: { state: 'waiting', failures: 1 } },
      })
      expect(fixture.workflow.attention).toBeUndefined()
      expect(fixture.saved().tick(1_000).calls).toEqual(['plan 2'])
    })
  }

  it('because a step within the call is not done yet counts as no failure', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1)
    fixture.planFails({ result: 'ongoing', statusCode: 425 })
    expect(fixture.workflow).toMatchObject({ status: 'submitted', plan: { call: { failures: 0, waits: 1 } } })
    expect(fixture.saved().tick(1_000).calls).toEqual(['plan 2'])
  })

  it('or a plan that cannot be read asks for a person at once, and heals by itself', () => {
    const fixture = WorkflowFixture.accepted().planText('<html></html>')
    expect(fixture.workflow.attention).toMatch(BAD_PLAN)
    expect(viewTransaction(fixture.workflow, 'submitted').problem).toBe('order plan bad-plan')
    fixture.saved().tick(1_000).plan({}, { done: 1 })
    expect(fixture.workflow).toMatchObject({ status: 'succeeded' })
    expect(fixture.workflow.attention).toBeUndefined()
  })

  it('or that is refused undoes nothing, asks for a person, and is asked again at the cap', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1)
    fixture.plan({}, { refused: { code: 'WORKFLOW_CHANGED', message: 'b was a call' } })
    const { plan, attention, status } = fixture.workflow
    expect(status).toBe('submitted')
    expect(attention).toBe('the plan was refused with WORKFLOW_CHANGED: b was a call')
    expect(viewTransaction(fixture.workflow, 'submitted').problem).toBe('order plan WORKFLOW_CHANGED')
    expect(plan.call.nextAt).toBe(fixture.storeNow + 60_000)
  })

  it('shows nothing of an answer with status 200, and else as much as of any call', () => {
    const secret = { next: [call('b', { payload: { card: 'secret' } })] }
    const refused = { refused: { code: 'WORKFLOW_CHANGED', message: 'b was a call', details: 'secret' } }
    for (const answer of [
      (fixture: WorkflowFixture) => fixture.plan(secret, 'perhaps'),
      (fixture: WorkflowFixture) => fixture.plan(secret, 'any', { gid: 'another' }),
      (fixture: WorkflowFixture) => fixture.plan({}, refused),
      (fixture: WorkflowFixture) => fixture.planText(JSON.stringify(secret).slice(0, -5)),
    ]) {
      const { workflow } = answer(WorkflowFixture.accepted())
      expect(workflow.plan.call.failures).toBe(1)
      expect(JSON.stringify(viewTransaction(workflow, 'submitted'))).not.toContain('secret')
    }
    const { workflow } = WorkflowFixture.accepted().planFails({
      ...{ result: 'unknown', statusCode: 500, excerpt: 'STEP_ERROR' },
    })
    expect(workflow.plan.call).toMatchObject({ answer: 'STEP_ERROR', runs: [{ excerpt: 'STEP_ERROR' }] })
  })

  for (const [what, then] of [
    ['is done while a call is pending', { done: 1 }],
    ['adds nothing and asks again', 'now'],
  ] as const) {
    it(`because it ${what}`, () => {
      const fixture = planned(call('a'), call('b')).answer('a', 'action', 'success', 1).plan({}, then)
      expect(fixture.workflow.attention).toMatch(BAD_PLAN)
      expect(fixture.workflow.plan.call.error).toBe('bad-plan')
    })
  }

  it('because it waits for nothing', () => {
    expect(WorkflowFixture.accepted().plan({}, 'any').workflow.attention).toMatch(BAD_PLAN)
  })

  it('because the journal is full', () => {
    const value = 'x'.repeat(60_000)
    const ran = Array.from({ length: 18 }, (_, index) => ({ id: `r${index}`, is: 'run', name: 'r', value }))
    const fixture = WorkflowFixture.accepted().plan({ ran }, 'now')
    expect(fixture.workflow.plan.call.error).toBe('journal-full')
    expect(fixture.workflow.attention).toContain('no room')
  })
})

describe('an answer for which the journal has no room', () => {
  /** Results of the code, of 60,000 bytes each, stand before the step. */
  function nearlyFull(count = 16): WorkflowFixture {
    const value = 'x'.repeat(60_000)
    const ran = Array.from({ length: count }, (_, index) => ({
      id: `r${index}`,
      is: 'run',
      name: 'r',
      value,
    }))
    return WorkflowFixture.accepted()
      .plan({ ran, next: [call('a'), call('b')] }, 'all')
      .saved()
  }
  const LARGE = 'y'.repeat(60_000)

  it('opens no plan, undoes nothing, and asks for a person', () => {
    const fixture = nearlyFull().answer('a', 'action', 'success', { id: 1 })
    fixture.answer('b', 'action', 'success', { id: LARGE })
    expect([fixture.calls, fixture.workflow.status]).toEqual([[], 'submitted'])
    expect(fixture.workflow.attention).toContain('the answer of b has no room in the journal')
    // Nothing is due any more, so no node keeps it.
    expect(fixture.run.save).toMatchObject({ hold: 'release', dueAt: PARKED_AT })
    const view = viewTransaction(fixture.workflow, 'submitted')
    expect(view.problem).toBe('– journal-full')
    expect(view.branches.at(-1)?.ops[0]).toMatchObject({ state: 'succeeded', error: 'journal-full' })
    const next = WorkflowFixture.claimed(fixture.workflow)
    expect([next.calls, next.workflow.attention]).toEqual([[], fixture.workflow.attention])
  })

  it('stands as the code reads it, so that its numbers are no longer than was counted', () => {
    const body = '[1e20, 1.0]'
    const fixture = planned(call('a')).step({
      type: 'answered',
      call: { branch: 0, op: 'action' },
      attempt: 1,
      answer: { result: 'success', statusCode: 200, body },
      durationMs: 1,
      jitter01: 0,
    })
    expect(fixture.workflow.branches[0]?.action.values?.at(-1)).toBe('[100000000000000000000,1]')
  })

  it('may also be one that no handler would read', () => {
    const fixture = planned(call('a'))
    fixture.answer('a', 'action', 'success', JSON.parse('{"__proto__":{"a":1}}'))
    expect([fixture.calls, fixture.workflow.attention?.includes('answer of a')]).toEqual([[], true])
  })

  it('can be aborted, and asks for a person no more', () => {
    const fixture = planned(call('a')).step({
      type: 'answered',
      call: { branch: 0, op: 'action' },
      attempt: 1,
      answer: { result: 'success', statusCode: 200 },
      durationMs: 1,
      jitter01: 0,
    })
    expect([fixture.calls, fixture.workflow.attention?.includes('answer of a')]).toEqual([[], true])
    const retried = RULES.fold(fixture.workflow, { type: 'retry-asked' }, fixture.storeNow).next
    const next = WorkflowFixture.claimed(retried)
    expect([next.calls, next.workflow.attention?.includes('answer of a')]).toEqual([[], true])
    const aborted = RULES.fold(next.workflow, { type: 'abort-asked' }, next.storeNow).next
    expect(viewTransaction(aborted, 'aborting')).not.toHaveProperty('problem')
    const undoing = WorkflowFixture.claimed(aborted)
    expect([undoing.calls, undoing.workflow.attention]).toEqual([['a compensate'], undefined])
  })

  it('counts the requests of the steps, too', () => {
    const payload = { card: 'x'.repeat(250_000) }
    const fixture = WorkflowFixture.accepted()
      .plan({ next: ['a', 'b', 'c', 'd'].map((id) => call(id, { payload })) }, 'all')
      .saved()
    for (const id of ['a', 'b', 'c', 'd']) fixture.answer(id, 'action', 'success', { id: LARGE })
    expect(fixture.workflow.attention).toContain('the answer of a has no room')
  })

  it('may be a failure, whose step is compensated all the same', () => {
    const said = { code: 'NO', message: '', details: LARGE }
    const fixture = nearlyFull(17).answer('a', 'action', 'success', { id: 1 })
    fixture.answer('b', 'action', 'failure', said).saved()
    expect([fixture.calls, fixture.workflow.attention]).toEqual([[], expect.stringContaining('answer of b')])
    expect(fixture.saved().calls).toEqual(['b compensate'])
    expect(fixture.answer('b', 'compensate', 'success').calls).toEqual([])
  })

  it('may be that of a signal', () => {
    const value = 'x'.repeat(60_000)
    const ran = Array.from({ length: 17 }, (_, index) => ({ id: `r${index}`, is: 'run', name: 'r', value }))
    const fixture = WorkflowFixture.accepted()
      .plan({ ran, next: [signalWait('s'), call('a')] }, 'any')
      .saved()
      .tick()
    const payload = JSON.stringify('z'.repeat(40_000))
    fixture
      .command({ type: 'signal-asked', signal: { name: 's', id: '1', digest: 'x', payload } })
      .saved()
      .saved()
    expect([fixture.calls, fixture.workflow.attention?.includes('answer of s')]).toEqual([[], true])
  })

  it('does not keep code from its end that needs it no more', () => {
    const fixture = planned(call('a'), call('b')).answer('a', 'action', 'success', 1)
    fixture.answer('b', 'action', 'success', LARGE.repeat(2)).saved()
    fixture.plan({}, { done: 1 })
    expect(fixture.workflow).toMatchObject({ status: 'succeeded' })
  })

  it('is not one that is no JSON: such an answer has no value', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success')
    expect(fixture.calls).toEqual(['plan 2'])
    expect(fixture.planCall.journal[0]).not.toHaveProperty('value')
  })
})

describe('a wait', () => {
  it('ends by its time, and the next plan has it', () => {
    const fixture = planned(timer('nap', 500)).tick()
    expect(fixture.calls).toEqual([])
    expect(fixture.tick(500).calls).toEqual(['plan 2'])
    expect(fixture.planCall.journal).toMatchObject([{ id: 'nap', is: 'timer' }])
  })

  it('takes a signal that came before it, whatever its name', () => {
    const fixture = WorkflowFixture.accepted()
    const signal = { name: 'approved', id: '1', digest: 'x', payload: '{"by":"kim"}' }
    fixture.command({ type: 'signal-asked', signal }).saved()
    fixture
      .plan({ next: [signalWait('approved')] }, 'any')
      .saved()
      .saved()
    expect(fixture.calls).toEqual(['plan 2'])
    expect(fixture.planCall.journal).toMatchObject([{ id: 'approved', value: { by: 'kim' } }])
  })

  it('takes a signal without a payload, and the next plan has null, so that it is not one that did not come', () => {
    const fixture = WorkflowFixture.accepted()
    const signal = { name: 'approved', id: '1', digest: 'x' }
    fixture.command({ type: 'signal-asked', signal }).saved()
    fixture
      .plan({ next: [signalWait('approved')] }, 'any')
      .saved()
      .saved()
    expect(fixture.calls).toEqual(['plan 2'])
    expect(fixture.planCall.journal[0]).toHaveProperty('value', null)
  })

  it('for a signal that does not come is journaled without a value', () => {
    const fixture = planned(signalWait('s', { timeoutMs: 500 }))
      .tick()
      .tick(500)
      .saved()
    expect(fixture.calls).toEqual(['plan 2'])
    expect(fixture.planCall.journal[0]).not.toHaveProperty('value')
  })

  it('keeps a signal that another node stored, also after our plan', () => {
    const fixture = planned(signalWait('s'), call('a')).tick().answer('a', 'action', 'success', 1)
    const row = fixture.run.durableTransaction
    const signal = { name: 's', id: '1', digest: 'x', payload: '7' }
    const signalled = RULES.fold(row, { type: 'signal-asked', signal }, fixture.storeNow).next
    fixture
      .plan({ next: [call('b')] }, 'any')
      .conflict()
      .reread(signalled)
      .saved()
    expect(fixture.workflow.signals).toMatchObject([{ id: '1' }])
    expect(fixture.workflow.branches[fixture.positionOf('s')]?.action.state).toBe('succeeded')
    expect([...fixture.calls].sort()).toEqual(['b action', 'plan 3'])
  })
})

describe('the record', () => {
  it('of a workflow has a format of its own, and goes on as it was', () => {
    const fixture = planned(call('a'), local('b', 1), timer('t', 9_000)).answer('a', 'action', 'success', {
      id: 1,
    })
    const workflow = fixture.workflow
    expect(toFormat(workflow)).toBe(6)
    expect(decodeTransaction(buildRow(workflow))).toEqual(workflow)
    const fresh = startWorkflow()
    expect(decodeTransaction(buildRow(fresh))).toEqual(fresh)
  })

  for (const w of ['[]', '{}', '{"steps":[{}],"plan":{},"order":[]}', '{"steps":[],"plan":7,"order":[]}']) {
    it(`that says ${w} is damaged`, () => {
      expect(() => decodeTransaction(buildRow(startWorkflow(), { progress: `{"w":${w}}` }))).toThrow(
        'is not a list of steps',
      )
    })
  }

  const good = JSON.parse(
    encodeProgress(
      planned(call('a'), timer('t', 9_000)).answer('a', 'action', 'success', { id: 1 }).workflow,
    ),
  )
  const w = (fields: object) => ({ w: { ...good.w, ...fields } })
  const plan = (fields: object) => w({ plan: { ...good.w.plan, ...fields } })
  const [first, ...others] = good.w.steps
  const step = (fields: object) => w({ steps: [{ ...first, ...fields }, ...others] })
  for (const [what, damage] of [
    ['an entry before the first step', w({ order: [-1] })],
    ['an entry behind the last step', w({ order: [2] })],
    ['an entry that is no number', w({ order: ['0'] })],
    ['an entry twice', w({ order: [0, 0] })],
    ['an entry that has not ended', w({ order: [0, 1] })],
    ['a plan that has seen more than there is', plan({ seen: 2 })],
    ['a plan that has seen less than nothing', plan({ seen: -1 })],
    ['an instant too few', w({ seenAt: [] })],
    ['an instant too many', w({ seenAt: [1, 2] })],
    ['no number of the plan', plan({ number: 0 })],
    ['a version that is none', w({ version: '1' })],
    ['a result that is no JSON', w({ result: '{' })],
    ['progress without a step', w({ steps: [], order: [], seenAt: [], plan: { ...good.w.plan, seen: 0 } })],
    ['a step without the id of its branch', step({ branch: { ...first.branch, id: 7 } })],
    ['a step without a body', step({ branch: { ...first.branch, body: undefined } })],
    ['a step with headers that are none', step({ branch: { ...first.branch, headers: null } })],
    ['an undo that is none', step({ branch: { ...first.branch, compensationContent: {} } })],
    ['a pointer that is none', step({ kept: [7] })],
    ['a failure that is none', { b: [{ ...good.b[0], a: { ...good.b[0].a, failure: {} } }, good.b[1]] }],
  ] as const) {
    it(`with ${what} is damaged`, () => {
      const read = (progress: object) =>
        decodeTransaction(buildRow(startWorkflow(), { progress: JSON.stringify(progress) }))
      expect(() => read(good)).not.toThrow()
      expect(() => read({ ...good, ...damage })).toThrow(AssertionError)
    })
  }
})
