import { describe, expect, it } from 'vitest'
import { buildRow } from '../../test/sagas.ts'
import { call, local, ran, signalWait, startWorkflow, timer, WorkflowFixture } from '../../test/workflows.ts'
import { decodeTransaction, encodeProgress } from '../record/record.ts'
import { viewTransaction } from '../record/view.ts'
import { IDLE, UNTOUCHED, type WorkflowTransaction } from '../transaction.ts'
import { buildStepRequest } from '../values/build-plan-call.ts'
import { PLAN } from './op-progress.ts'
import { RULES } from './rules.ts'

const BAD_PLAN = /^the plan cannot be carried out: /
const NO = { value: undefined, failed: { code: 'NO', message: 'not today' } }
const GRANTS = { version: 1, grants: 3 }

/** A workflow whose first plan has named these steps, with a grant for the second. */
function planned(...next: readonly object[]): WorkflowFixture {
  return WorkflowFixture.accepted(GRANTS).plan({ next }, 'any').saved()
}

/** Answers compensations one after the other, and lists them. */
function undoAll(fixture: WorkflowFixture): readonly string[] {
  const done: string[] = []
  while (
    fixture.workflow.status === 'aborting' ||
    fixture.calls.some((each) => each.includes('compensate'))
  ) {
    const due = fixture.calls.filter((each) => each.endsWith(' compensate'))
    if (due.length === 0) break
    done.push(due.join(' + '))
    for (const each of due) fixture.answer(each.split(' ')[0] ?? '', 'compensate', 'success')
  }
  return done
}

function abortBy(row: WorkflowTransaction, fixture: WorkflowFixture) {
  return RULES.fold({ ...row, sentUnknown: true }, { type: 'abort-asked' }, fixture.storeNow).next
}

describe('a grant', () => {
  it('of the first plan is durable with the accept', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
    expect([fixture.calls, fixture.isSaving]).toEqual([['plan 1'], false])
    expect(fixture.planCall.grant).toEqual({ from: 1, count: 3 })
  })

  it('of a later plan is durable before that is called, with what the plan has seen', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1)
    expect([fixture.calls, fixture.isSaving]).toEqual([[], true])
    fixture.saved()
    expect(fixture.calls).toEqual(['plan 2'])
    const row = decodeTransaction(buildRow(fixture.run.durableTransaction)) as WorkflowTransaction
    expect(row).toMatchObject({ granted: 3, order: [0], plan: { number: 2, seen: 1 } })
  })

  it('has the slots behind those that steps have', () => {
    const fixture = WorkflowFixture.accepted(GRANTS).plan(
      { ran: [ran('a', 1)], next: [local('b', 2)] },
      'any',
    )
    fixture.saved().answer('b', 'action', 'success', 1).saved()
    expect(fixture.planCall.grant).toEqual({ from: 3, count: 3 })
  })

  it('is part of the call, which is the same for each attempt and each node', () => {
    const fixture = planned(call('a'), call('b')).answer('a', 'action', 'success', { n: 1 }).saved()
    const body = fixture.planBody
    fixture.answer('b', 'action', 'success', { n: 2 }).planFails({ result: 'unknown' }).saved()
    expect(fixture.planBody).toBe(body)
    const next = WorkflowFixture.claimed(fixture.run.durableTransaction).tick(1_000)
    expect(next.calls).toEqual(['plan 2'])
    expect(next.planBody).toBe(body)
  })

  it('is not there if the submit asks for none, and then no row has a trace of it', () => {
    const fixture = WorkflowFixture.accepted({ grants: 0 }).plan({ next: [call('a')] }, 'any')
    expect(fixture.workflow.definition).not.toHaveProperty('grants')
    expect(encodeProgress(fixture.workflow)).not.toContain('granted')
  })

  for (const [steps, plans] of [
    [1, 1],
    [2, 1],
    [8, 1],
    [9, 2],
    [16, 2],
    [20, 3],
  ] as const) {
    it(`makes ${steps} local steps cost ${plans} calls and ${plans} writes behind the accept`, () => {
      const fixture = WorkflowFixture.accepted({ ...GRANTS, grants: 8 })
      let calls = 0
      for (let done = 0; done < steps; ) {
        expect(fixture.calls).toEqual([`plan ${++calls}`])
        const upTo = Math.min(steps, done + 8)
        const within = Array.from({ length: upTo - done }, (_, index) =>
          ran(`s${done + index}`, done + index + 1),
        )
        done = upTo
        fixture.plan({ ran: within }, done === steps ? { done: 'ok' } : 'now').saved()
      }
      expect([fixture.workflow.status, calls, fixture.saves]).toEqual(['succeeded', plans, plans])
    })
  }
})

describe('a step that ran within a plan call', () => {
  it('stands in the journal with its slot, and is never called', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
      .plan({ ran: [ran('a', 1)] }, 'now')
      .saved()
    expect(fixture.calls).toEqual(['plan 2'])
    expect(fixture.planCall).toMatchObject({
      journal: [{ id: 'a', is: 'step', name: 'a', slot: '~1', value: { of: 'a' } }],
      pending: [],
    })
  })

  it('is undone by a call that has its name and its value', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
      .plan({ ran: [ran('a', 1)] }, 'now')
      .saved()
    expect(fixture.requestOf('a', 'compensate')).toEqual({
      url: 'http://shop.test/workflows',
      body: {
        ...{ v: 1, workflow: 'order', version: 1, step: 'a' },
        idempotencyKey: 'order-17/~1/undo',
        value: { of: 'a' },
      },
    })
  })

  it('is undone without its value where a row of an older version has one that no call could bring', () => {
    const { workflow } = WorkflowFixture.accepted(GRANTS)
      .plan({ ran: [ran('a', 1)] }, 'now')
      .saved()
    const harmful = {
      ...UNTOUCHED,
      action: { ...IDLE, state: 'succeeded' as const, values: ['{"__proto__":1}'] },
    }
    const { body } = buildStepRequest({ ...workflow, branches: [harmful] }, 0, 'compensate')
    expect(JSON.parse(body)).not.toHaveProperty('value')
    expect(JSON.parse(body)).toMatchObject({ step: 'a' })
  })

  it('is undone alone, and after the steps that the same answer has named', () => {
    const fixture = WorkflowFixture.accepted({ ...GRANTS, grants: 2 })
    fixture.plan({ ran: [ran('a', 1), ran('b', 2)], next: [call('c'), call('d')] }, 'all').saved()
    fixture.answer('c', 'action', 'success', 1).answer('d', 'action', 'success', 2)
    fixture
      .saved()
      .plan({}, { failed: { code: 'X', message: '' } })
      .saved()
    const seals = ['~4 compensate', '~3 compensate']
    expect(undoAll(fixture)).toEqual([
      ...seals,
      'c compensate + d compensate',
      'b compensate',
      'a compensate',
    ])
    expect(fixture.workflow.status).toBe('failed')
  })

  it('and has nothing to undo is not called when the workflow is undone', () => {
    const fixture = WorkflowFixture.accepted({ ...GRANTS, grants: 1 }).plan(
      { ran: [ran('a', 1, { undo: false })] },
      'now',
    )
    fixture
      .saved()
      .plan({}, { failed: { code: 'X', message: '' } })
      .saved()
    expect(undoAll(fixture)).toEqual(['~2 compensate'])
  })

  it('and has failed is durable before it is sealed, behind the slots that another attempt may have gone on to', () => {
    const fixture = WorkflowFixture.accepted(GRANTS).plan({ ran: [ran('a', 1), ran('b', 2, NO)] }, 'now')
    expect([fixture.calls, fixture.isSaving]).toEqual([[], true])
    expect(fixture.saved().calls).toEqual(['~3 compensate', 'plan 2'])
    expect(fixture.planCall).toMatchObject({
      journal: [{ id: 'a' }, { id: 'b', slot: '~2', failed: { code: 'NO', message: 'not today' } }],
      pending: [],
    })
    fixture.answer('~3', 'compensate', 'unknown').saved().tick(1_000)
    expect(fixture.calls).toEqual(['~3 compensate'])
    expect(fixture.answer('~3', 'compensate', 'success').calls).toEqual(['b compensate'])
  })

  it('and has failed keeps the workflow from its end until its slots are sealed', () => {
    const fixture = WorkflowFixture.accepted(GRANTS).plan(
      { ran: [ran('a', 1, { ...NO, undo: false })] },
      'now',
    )
    fixture.saved().plan({}, { done: 1 }).saved()
    expect(fixture.workflow.status).toBe('submitted')
    for (const id of ['~3', '~2', 'a']) {
      expect(fixture.workflow.status).toBe('submitted')
      fixture.answer(id, 'compensate', 'success')
    }
    expect(fixture.workflow.status).toBe('succeeded')
  })

  it('and has failed leaves the next plan without a grant, and the one behind it with new slots', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
      .plan({ ran: [ran('a', 1, NO)] }, 'now')
      .saved()
    expect(fixture.planCall.grant).toEqual({ from: 4, count: 0 })
    fixture.plan({ next: [local('b', 4)] }, 'any').saved()
    fixture.answer('b', 'action', 'success', 1).saved()
    expect(fixture.planCall.grant).toEqual({ from: 5, count: 3 })
  })

  it('keeps its failure where there is no room for its details', () => {
    const failed = { code: 'NO', message: 'x', details: 'y'.repeat(2_000) }
    const fixture = WorkflowFixture.accepted(GRANTS)
    fixture.plan({ ran: [ran('a', 1, { value: undefined, failed })] }, 'now').saved()
    expect(fixture.planCall.journal[0]).toMatchObject({ failed: { code: 'NO', message: 'x' } })
  })
})

describe('a result of the code that is a failure', () => {
  const failed = { id: 'r', is: 'run', name: 'r', failed: { code: 'NO', message: 'x' } }

  it('stands in the journal, is never undone, and takes no grant away', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
      .plan({ ran: [ran('a', 1), failed] }, 'now')
      .saved()
    expect(fixture.calls).toEqual(['plan 2'])
    expect(fixture.planCall).toMatchObject({ grant: { from: 2, count: 3 }, journal: [{ id: 'a' }, failed] })
    expect(fixture.plan({}, { done: 1 }).workflow.status).toBe('succeeded')
  })

  it('is accepted without a grant, too', () => {
    const fixture = WorkflowFixture.accepted().plan({ ran: [failed] }, 'now')
    expect(fixture.planCall.journal).toMatchObject([failed])
  })
})

describe('an answer with steps that ran', () => {
  for (const [what, parts, then, text] of [
    ['a slot behind the grant', { ran: [ran('a', 4)] }, 'now', '/ran/0/slot'],
    ['a slot before the grant', { ran: [ran('a', 0)] }, 'now', '/ran/0/slot'],
    ['one slot twice', { ran: [ran('a', 1)], next: [local('b', 1)] }, 'any', '~1 stands already'],
    ['a slot left out', { ran: [ran('a', 2)] }, 'now', 'leaves out a slot'],
    ['no word of an undo', { ran: [ran('a', 1, { undo: undefined })] }, 'now', '/ran/0/undo'],
    ['a value beside a failure', { ran: [ran('a', 1, { failed: NO.failed })] }, 'now', 'beside a value'],
    ['a failure that is none', { ran: [ran('a', 1, { ...NO, failed: 1 })] }, 'now', '/ran/0/failed'],
    ['a step behind a failure', { ran: [ran('a', 1, NO), ran('b', 2)] }, 'now', 'behind a failure'],
    ['an end behind a failure', { ran: [ran('a', 1, NO)] }, { done: 1 }, 'behind a failure'],
    [
      'a wait behind a failure',
      { ran: [ran('a', 1, NO)], next: [timer('t', 5)] },
      'any',
      'does not ask again',
    ],
    [
      'a step behind a result of the code',
      { ran: [{ id: 'r', is: 'run', name: 'r', value: 1 }, ran('a', 1)] },
      'now',
      'behind a result of the code itself',
    ],
  ] as const) {
    it(`is no plan with ${what}`, () => {
      const { attention } = WorkflowFixture.accepted(GRANTS).plan(parts, then).workflow
      expect(attention).toMatch(BAD_PLAN)
      expect(attention).toContain(text)
    })
  }

  it('is no plan without a grant', () => {
    const { attention } = WorkflowFixture.accepted().plan({ ran: [ran('a', 1)] }, 'now').workflow
    expect(attention).toContain('/ran/0/slot was not granted')
  })

  it('is no plan behind the pivot if one of them could have to be undone', () => {
    const pivot = { ...call('p'), branch: { action: 'http://p.test/do', role: 'pivot' } }
    const fixture = planned(pivot).answer('p', 'action', 'success', 1).saved()
    expect(fixture.plan({ ran: [ran('a', 1)] }, 'now').workflow.attention).toContain('after the pivot')
    fixture
      .saved()
      .tick(1_000)
      .plan({ ran: [ran('a', 1, { undo: false })] }, { done: 1 })
    expect(fixture.workflow.status).toBe('succeeded')
  })

  it('may have run them beside steps that are called', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
    fixture.plan({ ran: [ran('x', 3)], next: [local('a', 1), local('b', 2)] }, 'any').saved()
    expect(fixture.calls).toEqual(['a action', 'b action'])
  })
})

describe('an abort', () => {
  it('seals each granted slot from the highest down, before anything else is undone', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1).saved()
    fixture.planFails({ result: 'unknown' }).saved().command({ type: 'abort-asked' }).saved()
    expect(undoAll(fixture)).toEqual(['~3 compensate', '~2 compensate', '~1 compensate', 'a compensate'])
    expect(fixture.workflow.status).toBe('failed')
  })

  it('waits for the end of the plan call under way, and its answer counts for nothing', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1).saved()
    fixture.command({ type: 'abort-asked' }).saved()
    expect(fixture.calls).toEqual([])
    fixture.plan({ ran: [ran('b', 1)], next: [call('late')] }, 'any')
    expect(fixture.workflow.steps.map(({ id }) => id)).toEqual(['a', '~1', '~2', '~3'])
    expect(undoAll(fixture)).toEqual(['~3 compensate', '~2 compensate', '~1 compensate', 'a compensate'])
  })

  it('does not wait for a plan call that another owner has made', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1).saved()
    fixture.command({ type: 'abort-asked' }).saved()
    const next = WorkflowFixture.claimed(fixture.run.durableTransaction)
    expect(next.calls).toEqual(['~3 compensate'])
  })

  it('goes on when the plan call is held back, which is not made any more', () => {
    const fixture = planned(call('a')).answer('a', 'action', 'success', 1).saved()
    fixture.command({ type: 'abort-asked' }).saved()
    const attempt = fixture.workflow.plan.call.attempts
    fixture.step({ type: 'held-back', calls: [{ call: { branch: PLAN, op: 'plan' }, attempt, waitMs: 10 }] })
    expect(fixture.calls).toEqual(['~3 compensate'])
  })

  it('of a workflow that has not begun seals nothing', () => {
    const fixture = WorkflowFixture.accepted({ ...GRANTS, delayMs: 500 })
      .command({ type: 'abort-asked' })
      .saved()
    expect(fixture.workflow).toMatchObject({ status: 'failed', steps: [] })
  })

  it('by another node seals all that the row has granted, and keeps what we know of them', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
    const aborted = abortBy(fixture.workflow, fixture)
    fixture
      .plan({ ran: [ran('a', 1)], next: [call('b')] }, 'any')
      .conflict()
      .reread(aborted)
      .saved()
    expect(fixture.requestOf('a', 'compensate').body).toMatchObject({ step: 'a', value: { of: 'a' } })
    expect(undoAll(fixture)).toEqual(['~3 compensate', '~2 compensate', 'a compensate'])
  })

  it('keeps the headers of the workflow in no seal and in no local step, whose calls have them', () => {
    const headers = { 'x-trace': 'h'.repeat(6_000) }
    const fixture = WorkflowFixture.accepted({ ...GRANTS, headers })
      .plan({ next: [local('a', 1)] }, 'all')
      .saved()
    expect(fixture.headersOf('a', 'action')).toEqual(headers)
    fixture.answer('a', 'action', 'success', 1).saved()
    fixture.command({ type: 'abort-asked' })
    for (const id of ['a', '~2', '~4']) expect(fixture.headersOf(id, 'compensate')).toEqual(headers)
    expect(viewTransaction(fixture.workflow, 'aborting').workflow?.journalBytes).toBeLessThan(6_000)
  })

  it('by another node has seals where we have a wait, which is none of them', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
    const aborted = abortBy(fixture.workflow, fixture)
    fixture
      .plan({ next: [signalWait('s')] }, 'any')
      .conflict()
      .reread(aborted)
      .saved()
    expect(fixture.workflow.branches[fixture.positionOf('s')]?.action.state).toBe('idle')
    expect(fixture.workflow.order).toEqual([])
    expect(undoAll(fixture)).toEqual(['~3 compensate', '~2 compensate', '~1 compensate'])
  })

  it('by another node is united with our own, though each has other seals', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
    const aborted = abortBy(fixture.workflow, fixture)
    fixture.plan({ ran: [ran('a', 1)] }, { failed: { code: 'X', message: '' } })
    fixture.conflict().reread(aborted).saved()
    expect(fixture.workflow).toMatchObject({ abort: { cause: 'requested', branches: [0, 1, 2] } })
    expect(undoAll(fixture)).toEqual(['~3 compensate', '~2 compensate', 'a compensate'])
  })

  it('seals a slot by a call that names no step', () => {
    const fixture = WorkflowFixture.accepted(GRANTS).planFails({ result: 'unknown' }).saved()
    fixture.command({ type: 'abort-asked' }).saved()
    const body = { v: 1, workflow: 'order', version: 1, idempotencyKey: 'order-17/~3/undo' }
    expect(fixture.requestOf('~3', 'compensate')).toEqual({ url: 'http://shop.test/workflows', body })
  })

  it.each([
    ['is compensated already, because an abort was lost', 'ALREADY_COMPENSATED'],
    ['has the row of an earlier transaction of the same gid', 'GID_REUSED'],
  ])('follows from a slot that %s', (_title, code) => {
    const refused = { code, message: '~2 is refused' }
    const fixture = WorkflowFixture.accepted(GRANTS).plan({}, { refused })
    expect(fixture.workflow).toMatchObject({ status: 'aborting', abort: { cause: 'workflow-failed' } })
    expect(undoAll(fixture.saved())).toEqual(['~3 compensate', '~2 compensate', '~1 compensate'])
    expect(fixture.workflow.status).toBe('failed')
    const { workflow } = WorkflowFixture.accepted().plan({}, { refused })
    expect(workflow.attention).toContain(`was refused with ${code}`)
  })

  it('shows the slots that may have run', () => {
    const fixture = WorkflowFixture.accepted({ ...GRANTS, grants: 1 })
      .planFails({ result: 'unknown' })
      .saved()
    fixture.command({ type: 'abort-asked' }).saved()
    expect(viewTransaction(fixture.workflow, 'aborting')).toMatchObject({
      workflow: { steps: 0 },
      branches: [
        { id: '~1', is: 'step', name: '~1 (may have run)', ops: [{ op: 'compensate', state: 'calling' }] },
      ],
    })
  })
})

describe('the record', () => {
  it('keeps what was granted, what ran and what is sealed', () => {
    const fixture = WorkflowFixture.accepted(GRANTS)
      .plan({ ran: [ran('a', 1), ran('b', 2, NO)] }, 'now')
      .saved()
    expect(decodeTransaction(buildRow(fixture.workflow))).toEqual(fixture.workflow)
    fixture.command({ type: 'abort-asked' })
    expect(decodeTransaction(buildRow(fixture.workflow))).toEqual(fixture.workflow)
  })

  it('of an abort during the first plan has its seals', () => {
    const fixture = WorkflowFixture.accepted(GRANTS).planFails({ result: 'unknown' }).saved()
    fixture.command({ type: 'abort-asked' }).saved()
    expect(fixture.workflow.plan.call.state).toBe('idle')
    expect(decodeTransaction(buildRow(fixture.workflow))).toEqual(fixture.workflow)
  })

  const good = JSON.parse(
    encodeProgress(
      WorkflowFixture.accepted(GRANTS).plan({ ran: [ran('a', 1)], next: [timer('t', 5)] }, 'any').workflow,
    ),
  )
  const step = (fields: object) => ({ w: { ...good.w, steps: [{ ...good.w.steps[0], ...fields }] } })
  for (const [what, damage] of [
    ['no grant', { w: { ...good.w, granted: undefined } }],
    ['a grant of 0', { w: { ...good.w, granted: 0 } }],
    ['a grant that is a text', { w: { ...good.w, granted: '3' } }],
    ['a slot that is none', step({ branch: { ...good.w.steps[0].branch, id: 'a' } })],
    ['a local step that is none', step({ local: 1 })],
    ['a step that ran in another way', step({ local: { hasUndo: true, granted: 'perhaps' } })],
    ['a step of which nothing tells the undo', step({ local: { granted: 'ran' } })],
  ] as const) {
    it(`with ${what} is damaged`, () => {
      const progress = JSON.stringify({ ...good, ...damage })
      expect(() => decodeTransaction(buildRow(startWorkflow(GRANTS), { progress }))).toThrow(
        /list of steps|grant/,
      )
    })
  }

  it('without grants that has a slot granted is damaged', () => {
    const progress = JSON.stringify(good)
    expect(() => decodeTransaction(buildRow(startWorkflow(), { progress }))).toThrow('grant')
  })
})
