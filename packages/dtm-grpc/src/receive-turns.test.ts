import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { KEYED_BOUNDS, ReceiveTurns } from './receive-turns.ts'

const { receivingMax, waitingMax, waitingOfCallerMax } = KEYED_BOUNDS

function openTurns() {
  const turns = new ReceiveTurns(KEYED_BOUNDS)
  const begun: string[] = []
  const late: string[] = []
  const take = (caller: string) =>
    turns.take(
      caller,
      () => begun.push(caller),
      () => late.push(caller),
    )
  return { begun, late, take }
}

describe('the turns of calls to send their messages', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('A caller with one call waits for one turn, however many calls of another wait', () => {
    const { begun, take } = openTurns()
    const first = take('many')
    for (let n = 1; n < receivingMax + waitingOfCallerMax; n++) take('many')
    take('one')
    first?.end()
    expect(begun).toHaveLength(receivingMax + 1)
    expect(begun.at(-1)).toBe('many')
    vi.advanceTimersByTime(250)
    expect(begun).toContain('one')
  })

  it('So many calls of one caller wait, and those of others still find a place', () => {
    const { take } = openTurns()
    for (let n = 0; n < receivingMax + waitingOfCallerMax; n++) expect(take('many')).toBeDefined()
    expect(take('many')).toBeUndefined()
    for (let caller = 1; caller < waitingMax / waitingOfCallerMax; caller++) {
      for (let n = 0; n < waitingOfCallerMax; n++) expect(take(`other-${caller}`)).toBeDefined()
    }
    expect(take('one')).toBeUndefined()
  })

  it('A slow call of a caller who has few turns keeps its turn while another has more', () => {
    const { late, take } = openTurns()
    take('one')
    for (let n = 1; n < receivingMax + 40; n++) take('many')
    // While the other has more than one turn, it loses its own.
    vi.advanceTimersByTime(3_000)
    expect(late.length).toBeGreaterThan(receivingMax)
    expect(late).not.toContain('one')
  })
})
