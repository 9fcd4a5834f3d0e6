import { expect, it } from 'vitest'
import { buildSaga } from '../../test/sagas.ts'
import type { SagaTransaction } from '../transaction.ts'
import { hasNoUndo } from './has-no-undo.ts'

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
