import { describe, expect, it } from 'vitest'
import { slowestText } from '../run/slowest-text.ts'
import { findRegexes } from './find-regexes.ts'
import { readRepository } from './source-tree.ts'

const TEXT_LENGTH = 100_000
/** A quadratic pattern shows here already, and is not run on the long text for a minute. */
const SHORT_LENGTH = 8_000
const SHORT_MS_MAX = 15
const LONG_MS_MAX = 50

/** These patterns never see what a caller sends; each has the length to which it is bounded, and by what. */
const BOUNDED: ReadonlyMap<string, number> = new Map([
  // It reads our own statements when the module is loaded.
  ['packages/store-mysql/src/sessions/statement.ts', 2_000],
  // It reads a line of the configuration, which an operator writes.
  ['packages/configuration/src/store-target.ts', 1_000],
  // It reads a number of at most 40 digits and 20 behind the point, which another pattern has accepted.
  ['sdk/src/testing/state-change.ts', 61],
])

/** These are put together from constants at the start: routes, bounds, a list of characters. */
const BUILT = [
  'packages/branch-http/src/excerpt.ts',
  'packages/core/src/ports/documents.ts',
  'packages/server/src/http/unknown-route.ts',
  'packages/signature/src/signature-input.ts',
]

describe('S27: regular expressions', () => {
  const { written, built } = findRegexes(readRepository())

  it('S27: No pattern is built from what a caller sends: those that are built are known', () => {
    expect(built).toEqual(BUILT)
    expect(written.length).toBeGreaterThan(50)
  })

  it('S27: Each pattern takes time in proportion to the text, 100 KB of it in 50 ms', {
    timeout: 240_000,
  }, () => {
    const slow = written.flatMap(({ path, pattern, flags }) => {
      const regex = new RegExp(pattern, flags)
      const bound = BOUNDED.get(path)
      const { tookMs, text } = slowestText(regex, Math.min(bound ?? SHORT_LENGTH, SHORT_LENGTH), SHORT_MS_MAX)
      if (tookMs > SHORT_MS_MAX) return [`${path} /${pattern}/ took ${tookMs} ms for ${text}`]
      if (bound !== undefined) return []
      const long = slowestText(regex, TEXT_LENGTH, LONG_MS_MAX)
      return long.tookMs > LONG_MS_MAX ? [`${path} /${pattern}/ took ${long.tookMs} ms for ${long.text}`] : []
    })
    expect(slow).toEqual([])
  })

  it('S27: The same measurement finds patterns that are quadratic or worse', () => {
    for (const pattern of [/^\s*(?:\{\s*\})?\s*$/, /0+$/, /^(\w+\.?)+$/, /^\s*0*(\d+)\s*$/]) {
      expect(
        slowestText(pattern, pattern.source.includes('+\\.?') ? 26 : SHORT_LENGTH, SHORT_MS_MAX).tookMs,
      ).toBeGreaterThan(SHORT_MS_MAX)
    }
  })
})
