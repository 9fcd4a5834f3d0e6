import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ADVISED, adviseOn } from './advise-on.ts'

const text = readFileSync(new URL('../../../docs/guides/operate.md', import.meta.url), 'utf8')
const guide = text.slice(text.indexOf('## Why'), text.indexOf('## What to do'))

/** The outcomes of the tables of the section "Why", each with the advice in the last cell of its row. */
const rows = [...guide.matchAll(/^\| (`[^|]+) \| [^|]*\| ([A-Z][^|]+) \|$/gm)].flatMap(
  ([, words = '', advice = '']) =>
    [...words.matchAll(/`([^`]+)`/g)].map(([, outcome = '']) => ({ outcome, advice })),
)

describe('the advice on outcomes', () => {
  it('The guide for operators has a row for each outcome, and no outcome twice', () => {
    const outcomes = rows.map(({ outcome }) => outcome)
    expect(ADVISED.filter((outcome) => !outcomes.includes(outcome))).toEqual([])
    expect(new Set(outcomes).size).toBe(outcomes.length)
  })

  for (const { outcome, advice } of rows) {
    it(`The advice on ${outcome} is that of the guide`, () => expect(adviseOn(outcome)).toBe(advice))
  }
})
