import type { BulkCountsView } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { parseSearch } from '../../filters/search-text.ts'
import { describeFilter, describeJob } from './describe-job.ts'

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

it('The filter of a job is told without the escapes of an address', () => {
  const filter = parseSearch('problem=bank-a+compensate+500&tag=region:eu&tag=tier:2&retrying=true')
  expect(describeFilter(filter)).toBe(
    'problem = bank-a compensate 500, tag = region:eu, tag = tier:2, retrying = true',
  )
})
