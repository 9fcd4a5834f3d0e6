import { expect, it } from 'vitest'
import { skip } from '../../test/operator.ts'
import { after, answered, buildSaga, sent, serial } from '../../test/sagas.ts'
import { call, local, WorkflowFixture } from '../../test/workflows.ts'
import type { SagaTransaction } from '../transaction.ts'
import { hasNoUndo, mustUndo } from './undo-of-call.ts'

/** Gives the second branch of three another form. */
function sagaWith(changes: object): SagaTransaction {
  const saga = buildSaga([{}, { compensation: false }, {}])
  const branches = saga.definition.branches.map((branch, position) =>
    position === 1 ? { ...branch, ...changes } : branch,
  )
  return { ...saga, definition: { ...saga.definition, branches } }
}

it.each([
  ['without a compensation', {}, true],
  ['that is the pivot', { role: 'pivot' }, true],
  ['whose compensation calls nothing', { compensation: '' }, true],
  ['with a compensation', { compensation: 'http://bank.test/02/compensate' }, false],
  ['that is called until it succeeds', { role: 'retriable' }, false],
] as const)('The action of a branch %s has no undo: %o, %o', (_what, changes, expected) => {
  const saga = sagaWith(changes)
  expect(hasNoUndo(saga, { branch: 1, op: 'action' })).toBe(expected)
  expect([0, 2].map((branch) => hasNoUndo(saga, { branch, op: 'action' }))).toEqual([false, false])
})

it('A compensation is no action that nothing undoes', () => {
  expect(hasNoUndo(sagaWith({ role: 'pivot' }), { branch: 1, op: 'compensate' })).toBe(false)
})

it.each([
  ['a call that is its pivot', call('ship', { role: 'pivot', compensation: undefined }), true],
  ['a local step that is its pivot', local('ship', 1, { role: 'pivot', undo: false }), true],
  ['a call without an undo', call('ship', { compensation: undefined }), true],
  ['a call with an undo', call('ship'), false],
  ['a local step without an undo', local('ship', 1, { undo: false }), false],
] as const)(
  'In a workflow the action of %s has nothing that would hold back a copy: %o, %o',
  (_what, step, expected) => {
    const { workflow } = WorkflowFixture.accepted().plan({ next: [step] }, 'any')
    expect(workflow.steps.map(({ id }) => id)).toEqual(['ship'])
    expect(hasNoUndo(workflow, { branch: 0, op: 'action' })).toBe(expected)
    expect(hasNoUndo(workflow, { branch: 0, op: 'compensate' })).toBe(false)
  },
)

const UNDO = { branch: 0, op: 'compensate' } as const

it('An undo is due where its action was answered with success, and a person has changed neither', () => {
  const told = (saga: SagaTransaction) => mustUndo(saga, UNDO)
  const done = after(serial(2), [sent([0, 'action']), answered(0, 'action', 'success')])
  expect(told(done)).toBe(true)
  expect(mustUndo(done, { branch: 0, op: 'action' })).toBe(false)
  expect(mustUndo(done, { branch: 1, op: 'compensate' })).toBe(false)
  expect(told(after(serial(2), [sent([0, 'action']), answered(0, 'action', 'unknown')]))).toBe(false)
  expect(told(after(serial(2), [skip('01', 'action')]))).toBe(false)
  for (const op of ['action', 'compensate'] as const) {
    const url = 'http://bank.test/elsewhere'
    expect(told({ ...done, edits: [{ branch: 0, op, url }] })).toBe(false)
    expect(told({ ...done, edits: [{ branch: 0, op, body: '{}' }] })).toBe(true)
  }
})

it('An undo is not due where its action called nothing', () => {
  const { definition, ...saga } = after(serial(2), [sent([0, 'action']), answered(0, 'action', 'success')])
  const branches = definition.branches.map((branch) => ({ ...branch, action: '' }))
  expect(mustUndo({ ...saga, definition: { ...definition, branches } }, UNDO)).toBe(false)
})

it('The undo of a workflow is never due, since no person could skip it', () => {
  const fixture = WorkflowFixture.accepted()
    .plan({ next: [call('pay')] }, 'all')
    .settled()
    .answer('pay', 'action', 'success')
  expect(fixture.workflow.branches[0]?.action.state).toBe('succeeded')
  expect(mustUndo(fixture.workflow, UNDO)).toBe(false)
})
