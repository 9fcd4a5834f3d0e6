import { INPUT_BYTES_MAX, PLAN_BYTES_MAX } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { call, WorkflowFixture } from '../../test/workflows.ts'
import { viewTransaction } from '../record/view.ts'
import { countBytes } from './count-bytes.ts'

/** A workflow with the largest input, in a writing system whose letters take three bytes. */
function withLargestInput(): WorkflowFixture {
  return WorkflowFixture.accepted({ input: '語'.repeat((INPUT_BYTES_MAX - 2) / 3) })
}

/** Goes on until the journal is full, and returns the size of the largest plan call that was made. */
function fill(fixture: WorkflowFixture, goOn: (index: number) => void): number {
  let largest = 0
  for (let index = 0; fixture.workflow.attention === undefined; index++) {
    largest = Math.max(largest, countBytes(fixture.planBody))
    goOn(index)
  }
  expect(fixture.workflow.attention).toContain('no room in the journal')
  return largest
}

it('A plan call stays within its bound, with the largest input and a journal full of results of the code', () => {
  const fixture = withLargestInput()
  const largest = fill(fixture, (index) =>
    fixture.plan({ ran: [{ id: `r${index}`, is: 'run', name: 'r', value: 'x'.repeat(30_000) }] }, 'now'),
  )
  expect(largest).toBeGreaterThan(PLAN_BYTES_MAX - 40_000)
  expect(largest).toBeLessThanOrEqual(PLAN_BYTES_MAX)
})

it('A plan call stays within its bound where the answers of services fill the journal', () => {
  const fixture = withLargestInput()
  const largest = fill(fixture, (index) =>
    fixture
      .plan({ next: [call(`c${index}`)] }, 'all')
      .saved()
      .answer(`c${index}`, 'action', 'success', { id: index, text: '語'.repeat(10_000) }),
  )
  expect(largest).toBeGreaterThan(PLAN_BYTES_MAX - 40_000)
  expect(largest).toBeLessThanOrEqual(PLAN_BYTES_MAX)
})

it('The input counts as bytes of the journal', () => {
  const view = viewTransaction(withLargestInput().workflow, 'submitted')
  expect(view.workflow?.journalBytes).toBeGreaterThan(INPUT_BYTES_MAX - 5)
})
