import { expect, it } from 'vitest'
import { listRecords } from '../src/bank/rows/list-records.ts'

const ORDER = { gid: 'order', status: 'submitted' } as const

it('A step counts from the first write that has it, and a grant from the first write that has so many slots', () => {
  const { recordedSteps, recordedGrants } = listRecords([
    { ...ORDER, at: 1 },
    { ...ORDER, at: 2, steps: ['~1'], lastSlot: 8 },
    { ...ORDER, at: 3, steps: ['~1', 'ship'], lastSlot: 9 },
    { ...ORDER, at: 4, steps: ['~1', 'ship'], lastSlot: 9 },
  ])
  expect(recordedSteps).toEqual([
    { gid: 'order', branchId: '~1', at: 2, isAfterTurn: false },
    { gid: 'order', branchId: 'ship', at: 3, isAfterTurn: false },
  ])
  expect(recordedGrants).toEqual([
    { gid: 'order', lastSlot: undefined, at: 1 },
    { gid: 'order', lastSlot: 8, at: 2 },
    { gid: 'order', lastSlot: 9, at: 3 },
  ])
})

it('A step counts as planned after the turn if it came with the decision or later, and only in its own workflow', () => {
  const { recordedSteps } = listRecords([
    { ...ORDER, at: 1, steps: ['first'] },
    { ...ORDER, at: 2, status: 'aborting', steps: ['first', 'with'] },
    { ...ORDER, gid: 'other', at: 3, steps: ['theirs'] },
    { ...ORDER, at: 4, status: 'failed', steps: ['first', 'with', 'later'] },
  ])
  expect(recordedSteps.filter(({ isAfterTurn }) => isAfterTurn).map(({ branchId }) => branchId)).toEqual([
    'with',
    'later',
  ])
})
