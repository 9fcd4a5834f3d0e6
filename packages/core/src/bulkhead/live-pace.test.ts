import { describe, expect, it } from 'vitest'
import { type LiveTurn, takeLiveTurn } from './live-pace.ts'

const MB = 1_000_000

/** Takes the turns of views that come `everyMs` apart. */
function takeTurns(views: number, everyMs: number, characters: number): readonly LiveTurn[] {
  const turns: LiveTurn[] = []
  for (let view = 0; view < views; view++)
    turns.push(takeLiveTurn(turns.at(-1)?.nextAt ?? Number.NEGATIVE_INFINITY, view * everyMs, characters))
  return turns
}

describe('the pace of live streams', () => {
  it('S42: A caller is sent 2 MB a second in the long run', () => {
    const [last] = takeTurns(200, 0, MB).slice(-1)
    expect(last?.at).toBe(199 * 500 - 1_000)
  })

  it('S42: The views of a caller that is sent less go at once', () => {
    for (const [view, { at }] of takeTurns(100, 600, MB).entries()) expect(at).toBeLessThanOrEqual(view * 600)
  })

  it('S42: The first views of a caller go at once, and no more of them after a long pause', () => {
    expect(takeTurns(4, 0, MB).filter(({ at }) => at <= 0)).toHaveLength(3)
    const turn = takeLiveTurn(5_000, 3_600_000, MB)
    expect(takeLiveTurn(turn.nextAt, 3_600_000, 10 * MB).nextAt).toBeGreaterThan(3_604_000)
  })
})
