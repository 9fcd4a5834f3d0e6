import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import {
  BULK_DRAFT_MS,
  BULK_PART_GIDS_MAX,
  BULK_READ_BACK_MS,
  BULK_WATCH_MS,
  type BulkJob,
  type BulkPart,
  countFates,
  isAbandonedDraft,
  splitIntoParts,
  withFates,
} from './bulk-job.ts'
import { BULK_GIVE_MAX, commandBulk, planBulk } from './plan-bulk.ts'

const JOB: BulkJob = {
  id: 'abcdefghabcdefgh',
  command: 'retry',
  reason: 'the bank is mended',
  by: { via: 'local' },
  createdAt: 1_000,
  ratePerSecond: 20,
  canary: 4,
  total: 10,
  state: 'canary',
  stateSince: 1_000,
  countedFrom: 0,
}

/** Builds the parts of a job whose gids have these fates. */
function buildParts(fates: string): BulkPart[] {
  const gids = [...fates].map((_, position) => `saga-${position}` as Gid)
  return splitIntoParts(gids).map((part, at) => ({
    ...part,
    fates: fates.slice(at * BULK_PART_GIDS_MAX, (at + 1) * BULK_PART_GIDS_MAX),
  }))
}

const give = (...positions: number[]) => ({ type: 'give', positions })
const enter = (state: string, pausedBy?: string) => ({
  type: 'enter',
  state,
  ...(pausedBy === undefined ? {} : { pausedBy }),
})
const LATER = JOB.stateSince + BULK_WATCH_MS

describe('the next step of a bulk job', () => {
  for (const [title, state, fates, now, step] of [
    ['begins with the canaries alone', 'canary', 'wwwwwwwwww', 1_000, give(0, 1, 2, 3)],
    ['gives the rest of the canaries after a crash', 'canary', 'gwgwwwwwww', 1_000, give(1, 3)],
    ['watches the canaries once all have got it', 'canary', 'ggrxwwwwww', 1_000, enter('watching')],
    ['waits for the answers of the canaries', 'watching', 'ooogwwwwww', LATER - 1, { type: 'wait' }],
    ['goes on at once when all canaries have got on', 'watching', 'oooowwwwww', 1_001, enter('running')],
    [
      'pauses when a quarter of the canaries has not got on',
      'watching',
      'ooofwwwwww',
      1_001,
      enter('paused', 'canary'),
    ],
    [
      'pauses when a canary is not answered in time',
      'watching',
      'ooogwwwwww',
      LATER,
      enter('paused', 'canary'),
    ],
    [
      'counts a refused canary as one that has not got on',
      'watching',
      'ooorwwwwww',
      LATER,
      enter('paused', 'canary'),
    ],
    ['gives all others the command', 'running', 'oooowwwwww', 1_000, give(4, 5, 6, 7, 8, 9)],
    ['passes over those that have got it', 'running', 'oooogwgwgg', 1_000, give(5, 7)],
    ['reads back when none waits', 'running', 'oooogggggg', 1_000, enter('reading-back')],
    ['waits for the last answers', 'reading-back', 'oooogfffff', 1_001, { type: 'wait' }],
    ['is done when all are answered', 'reading-back', 'oooofforrx', 1_001, enter('done')],
    [
      'is done when the time for answers is over',
      'reading-back',
      'oooogfffff',
      1_000 + BULK_READ_BACK_MS,
      enter('done'),
    ],
    ['rests while it is paused', 'paused', 'oooowwwwww', 1_000, { type: 'rest' }],
    ['rests when it is done', 'done', 'oooooooooo', 1_000, { type: 'rest' }],
    ['rests when it is cancelled', 'cancelled', 'oooowwwwww', 1_000, { type: 'rest' }],
  ] as const) {
    it(title, () => expect(planBulk({ ...JOB, state }, buildParts(fates), now)).toEqual(step))
  }

  for (const state of ['canary', 'running'] as const) {
    it(`gives no more in a step than its rate allows in a second, nor than the bound (${state})`, () => {
      const parts = buildParts('w'.repeat(1_000))
      const count = (ratePerSecond: number) => {
        const step = planBulk({ ...JOB, state, canary: 500, ratePerSecond }, parts, 0)
        return step.type === 'give' ? step.positions.length : 0
      }
      expect(count(20)).toBe(20)
      expect(count(500)).toBe(BULK_GIVE_MAX)
    })
  }

  it('gives the canaries at its rate, and watches only when all have got it', () => {
    const job = { ...JOB, canary: 5, ratePerSecond: 2 }
    expect(planBulk(job, buildParts('wwwwwwwww'), 0)).toEqual(give(0, 1))
    expect(planBulk(job, buildParts('ggggwwwww'), 0)).toEqual(give(4))
    expect(planBulk(job, buildParts('gggggwwww'), 0)).toEqual(enter('watching'))
  })

  it('goes on without canaries at once', () => {
    const job = { ...JOB, canary: 0 }
    expect(planBulk(job, buildParts('ww'), 0)).toEqual(enter('watching'))
    expect(planBulk({ ...job, state: 'watching' }, buildParts('ww'), 0)).toEqual(enter('running'))
  })

  it.each([
    ['person', 'ooggwwwwww', 'watching'],
    ['person', 'oogggwwwww', 'running'],
    ['canary', 'ooggwwwwww', 'running'],
  ] as const)(
    'watches its canaries again if a person has paused that: paused by %s at %s',
    (pausedBy, fates, state) => {
      const paused: BulkJob = { ...JOB, state: 'paused', pausedBy }
      expect(commandBulk(paused, buildParts(fates), 'resume', 7)).toMatchObject({ state, stateSince: 7 })
    },
  )

  it('pauses when over a fifth of the last 50 were refused, and looks at later ones alone after a resume', () => {
    const running = { ...JOB, state: 'running' } as const
    const tenRefused = `${'o'.repeat(40)}${'r'.repeat(10)}`
    const elevenRefused = `${'o'.repeat(39)}${'r'.repeat(11)}`
    expect(planBulk(running, buildParts(`${tenRefused}ww`), 0)).toEqual(give(50, 51))
    const parts = buildParts(`${elevenRefused}ww`)
    expect(planBulk(running, parts, 0)).toEqual(enter('paused', 'refusals'))
    const resumed = commandBulk({ ...running, state: 'paused', pausedBy: 'refusals' }, parts, 'resume', 5)
    expect(resumed).toMatchObject({ state: 'running', stateSince: 5, countedFrom: 50 })
    expect(resumed).not.toHaveProperty('pausedBy')
    expect(planBulk({ ...running, ...resumed }, parts, 0)).toEqual(give(50, 51))
  })
})

describe('what a person does to a bulk job', () => {
  for (const [title, state, command, next] of [
    ['pauses a running one', 'running', 'pause', 'paused'],
    ['pauses the canaries', 'canary', 'pause', 'paused'],
    ['cannot pause a paused one', 'paused', 'pause', undefined],
    ['resumes a paused one', 'paused', 'resume', 'running'],
    ['cannot resume a running one', 'running', 'resume', undefined],
    ['cancels a running one', 'running', 'cancel', 'cancelled'],
    ['cancels a paused one', 'paused', 'cancel', 'cancelled'],
    ['cannot cancel one that is done', 'done', 'cancel', undefined],
    ['cannot resume a cancelled one', 'cancelled', 'resume', undefined],
  ] as const) {
    it(title, () =>
      expect(commandBulk({ ...JOB, state }, buildParts('oooowwwwww'), command, 7)?.state).toBe(next),
    )
  }

  it('goes on with the canaries if they were not all given', () => {
    const resumed = commandBulk({ ...JOB, state: 'paused' }, buildParts('oowwwwwwww'), 'resume', 7)
    expect(resumed?.state).toBe('canary')
  })
})

describe('the counts of a bulk job', () => {
  it('add up, over several parts', () => {
    const fates = `${'wgofrx'.repeat(100)}`
    const [first, ...others] = buildParts(fates)
    if (first === undefined) throw new Error('there is no part')
    const counts = countFates([
      withFates(first, [
        { position: 4, fate: 'r', code: 'SAGA_PAUSED' as never },
        { position: 10, fate: 'r', code: 'SAGA_ALREADY_FINAL' },
      ]),
      ...others,
    ])
    expect(counts).toEqual({
      total: 600,
      waiting: 100,
      given: 300,
      gotOn: 100,
      failedAgain: 100,
      notAnswered: 100,
      refused: { SAGA_PAUSED: 1, SAGA_ALREADY_FINAL: 1 },
      gone: 100,
    })
  })

  it('changes the fates that are named, and no others', () => {
    const [part] = buildParts('wwww')
    if (part === undefined) throw new Error('there is no part')
    expect(
      withFates(part, [
        { position: 1, fate: 'g' },
        { position: 3, fate: 'x' },
      ]).fates,
    ).toBe('wgwx')
  })
})

describe('a draft of a bulk job', () => {
  for (const [title, draftUntil, now, isAbandoned] of [
    ['A job is no draft', undefined, 10_000_000, false],
    ['A draft has time to get its list', BULK_DRAFT_MS, BULK_DRAFT_MS - 1, false],
    ['A draft without a list is given up when its time is over', BULK_DRAFT_MS, BULK_DRAFT_MS, true],
  ] as const)
    it(title, () =>
      expect(isAbandonedDraft(draftUntil === undefined ? {} : { draftUntil }, now)).toBe(isAbandoned),
    )
})
