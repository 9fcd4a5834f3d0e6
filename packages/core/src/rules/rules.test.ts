import { describe, expect, it } from 'vitest'
import { after, answered, CREATED_AT, sent, serial } from '../../test/sagas.ts'
import { AssertionError } from '../errors.ts'
import type { Transaction } from '../transaction.ts'
import { assertValid } from './rules.ts'

const inFlight = after(serial(1), [sent([0, 'action'])])
const succeeded = after(inFlight, [answered(0, 'action', 'success')])
const aborting = after(inFlight, [{ type: 'abort-asked' }])
const stopped = after(aborting, [{ type: 'stop-asked' }])

if (aborting.status !== 'aborting') throw new Error('it was not aborted')
const failedInFlight: Transaction = { ...aborting, status: 'failed', finishedAt: CREATED_AT }

/** States that the types allow and the rules exclude. */
const EXCLUDED: Readonly<Record<string, Transaction>> = {
  'a branch without progress': { ...inFlight, branches: [] },
  'succeeded with a branch that has not': { ...succeeded, branches: inFlight.branches },
  'compensated without a decision': {
    ...succeeded,
    branches: succeeded.branches.map(({ action }) => ({ action, compensate: action })),
  },
  'failed with an action in flight': failedInFlight,
  'a final one with attention': { ...stopped, attention: 'look' },
}

describe('a state that the rules exclude is an assertion', () => {
  for (const [what, state] of Object.entries(EXCLUDED)) {
    it(what, () => {
      expect(() => assertValid(state)).toThrow(AssertionError)
    })
  }

  it('No valid state is excluded', () => {
    for (const state of [inFlight, succeeded, aborting, stopped]) {
      expect(() => assertValid(state)).not.toThrow()
    }
  })
})
