import { describe, expect, it } from 'vitest'
import { call, WorkflowFixture } from '../../test/workflows.ts'
import type { CallKey } from '../rules/events.ts'
import { PLAN } from '../rules/op-progress.ts'
import { mayStart } from './may-start.ts'

const DEADLINE_MS = 500
const ASKED: CallKey = { branch: PLAN, op: 'plan' }
const ACTION: CallKey = { branch: 0, op: 'action' }
const UNDO: CallKey = { branch: 0, op: 'compensate' }
const PIVOT = { ...call('a'), branch: { action: 'http://a.test/do', role: 'pivot' } }

/** A workflow with slots for its plan calls, whose first plan has named one step. */
function planned(step: object = call('a')): WorkflowFixture {
  return WorkflowFixture.accepted({ version: 1, grants: 2, deadlineMs: DEADLINE_MS })
    .plan({ next: [step] }, 'all')
    .saved()
}

describe('A call of a workflow that has waited for its turn', () => {
  for (const [what, call, isSent, fixture] of [
    ['the plan', ASKED, true, () => WorkflowFixture.accepted()],
    ['an action', ACTION, true, () => planned()],
    ['an undo of a step that has not failed', UNDO, false, () => planned()],
    ['an undo of a failed step', UNDO, true, () => planned().answer('a', 'action', 'failure')],
    ['the plan, after an abort', ASKED, false, () => planned().command({ type: 'abort-asked' })],
    ['an action, after an abort', ACTION, false, () => planned().command({ type: 'abort-asked' })],
    ['an undo, after an abort', UNDO, true, () => planned().command({ type: 'abort-asked' })],
    ['the plan, after a stop', ASKED, false, () => planned().command({ type: 'stop-asked' })],
  ] as const) {
    it(`is ${isSent ? '' : 'not '}sent: ${what}`, () => {
      const { run, now } = fixture()
      expect(mayStart(run, call, now)).toBe(isSent)
    })
  }

  for (const [what, call, isSent, step] of [
    ['the plan', ASKED, false, undefined],
    ['an action', ACTION, false, undefined],
    ['the plan, behind the point of no return', ASKED, true, PIVOT],
    ['an action, behind the point of no return', ACTION, true, PIVOT],
  ] as const) {
    it(`is ${isSent ? '' : 'not '}sent after the deadline: ${what}`, () => {
      const { run, now } = planned(step)
      expect(mayStart(run, call, now + DEADLINE_MS - 1)).toBe(true)
      expect(mayStart(run, call, now + DEADLINE_MS)).toBe(isSent)
    })
  }

  it('is not sent after the lease', () => {
    const { run } = planned(PIVOT)
    expect(mayStart(run, ASKED, run.leaseUntil - 1)).toBe(true)
    expect(mayStart(run, ASKED, run.leaseUntil)).toBe(false)
  })
})
