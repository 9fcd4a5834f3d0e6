import { describe, expect, it } from 'vitest'
import { dropRunningMinute, fillMinutes } from './fill-minutes.ts'

const MINUTE_MS = 60_000
const minute = (number: number, accepted: number) => ({
  at: number * MINUTE_MS,
  accepted,
  succeeded: accepted,
  failed: 0,
  stopped: 0,
})
const fill = (minutes: readonly ReturnType<typeof minute>[], since: number, asOf: number) =>
  fillMinutes(minutes, since * MINUTE_MS + 7_000, asOf * MINUTE_MS + 30_000).map(({ at, accepted }) => [
    at / MINUTE_MS,
    accepted,
  ])

describe('the minutes of the throughput', () => {
  for (const [title, minutes, since, asOf, filled] of [
    [
      'A first minute has two of nothing before it',
      [minute(9, 4)],
      9,
      9,
      [
        [7, 0],
        [8, 0],
        [9, 4],
      ],
    ],
    [
      'A memory without any count is a line of nothing',
      [],
      8,
      9,
      [
        [7, 0],
        [8, 0],
        [9, 0],
      ],
    ],
    [
      'A quiet minute between two busy ones counts nothing',
      [minute(5, 1), minute(7, 2)],
      5,
      8,
      [
        [5, 1],
        [6, 0],
        [7, 2],
        [8, 0],
      ],
    ],
  ] as const)
    it(title, () => expect(fill(minutes, since, asOf)).toEqual(filled))

  it('No more than an hour is shown', () => {
    const filled = fill([minute(40, 3), minute(99, 5)], 0, 99)
    expect([filled.length, filled[0], filled.at(-1)]).toEqual([60, [40, 3], [99, 5]])
  })

  for (const [title, since, drawn] of [
    ['The minute that still runs is not drawn', 8, [7, 8]],
    ['A first minute is drawn while it runs', 9, [8, 9]],
  ] as const)
    it(title, () => {
      const asOf = 9 * MINUTE_MS + 30_000
      const minutes = fillMinutes([minute(9, 4)], since * MINUTE_MS, asOf)
      const left = dropRunningMinute(minutes, since * MINUTE_MS, asOf)
      expect(left.map(({ at }) => at / MINUTE_MS)).toEqual(drawn)
    })
})
