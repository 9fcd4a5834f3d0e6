import type { BulkCountsView } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { describeJob } from './describe-job.ts'

const COUNTS: BulkCountsView = {
  total: 5,
  waiting: 0,
  given: 5,
  gotOn: 0,
  failedAgain: 0,
  notAnswered: 5,
  refused: 0,
  refusedBy: {},
  refusals: [],
  gone: 0,
}

it('Others wait for the first few only while there are others', () => {
  expect(describeJob({ state: 'watching', counts: { ...COUNTS, total: 8, waiting: 3 } })).toContain(
    'others wait',
  )
  expect(describeJob({ state: 'watching', counts: COUNTS })).toBe(
    'All have the command. The last answers are waited for.',
  )
})
