import { PLAN_BYTES_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { type InlineSpent, mayRunInline, placeStep, type StepPlace } from './inline-rules.ts'

const ALONE: StepPlace = { hasBarrier: true, isPivot: false, isAlone: true, grant: { from: 3, count: 2 } }

describe('where a step runs', () => {
  it.each<[string, Partial<StepPlace>, 'inline' | 'own-call']>([
    ['alone and with a grant', {}, 'inline'],
    ['without a barrier', { hasBarrier: false }, 'own-call'],
    ['as the pivot', { isPivot: true }, 'own-call'],
    ['beside others', { isAlone: false }, 'own-call'],
    ['without a grant', { grant: { from: 3, count: 0 } }, 'own-call'],
  ])('A step %s', (_title, more, place) => {
    expect(placeStep({ ...ALONE, ...more })).toBe(place)
  })
})

const FRESH: InlineSpent = { count: 0, hasRun: false, hasFailed: false, bytes: 0, isHalfOfTimeOver: false }
const ROOM = { grant: { from: 3, count: 2 }, bytesLeft: 1_000 }

describe('what runs within a plan call', () => {
  it.each<[string, 'run' | 'step', number, Partial<InlineSpent>, boolean]>([
    ['the first step', 'step', 3, {}, true],
    ['the last slot of the grant', 'step', 4, { count: 1 }, true],
    ['a slot behind the grant', 'step', 5, { count: 2 }, false],
    ['a slot behind the grant, as the first', 'step', 5, {}, false],
    ['a run, whatever the grant', 'run', 5, { count: 2 }, true],
    ['a step behind a run', 'step', 3, { count: 1, hasRun: true }, false],
    ['a run behind a run', 'run', 3, { count: 1, hasRun: true }, true],
    ['a step behind a failure', 'step', 4, { count: 1, hasFailed: true }, false],
    ['a run behind a failure', 'run', 4, { count: 1, hasFailed: true }, false],
    ['the second step when half of the time is over', 'step', 4, { count: 1, isHalfOfTimeOver: true }, false],
    ['the first step when half of the time is over', 'step', 3, { isHalfOfTimeOver: true }, true],
    ['below half of the bytes', 'run', 4, { count: 1, bytes: 499 }, true],
    ['at half of the bytes', 'run', 4, { count: 1, bytes: 500 }, false],
    ['the first one, without bytes', 'run', 4, { bytes: 1_000 }, true],
  ])('%s', (_title, is, slot, spent, may) => {
    expect(mayRunInline(is, slot, { ...FRESH, ...spent }, ROOM)).toBe(may)
  })

  it('A record with much room does not fill the answer', () => {
    const spent = { ...FRESH, count: 1, bytes: PLAN_BYTES_MAX / 2 }
    expect(mayRunInline('run', 3, spent, { ...ROOM, bytesLeft: 4 * PLAN_BYTES_MAX })).toBe(false)
  })
})
