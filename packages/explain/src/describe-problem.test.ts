import { describe, expect, it } from 'vitest'
import { ADVISED } from './advise-on.ts'
import { describeOutcome } from './describe-outcome.ts'
import { describeProblem, readProblem } from './describe-problem.ts'

describe('readProblem', () => {
  for (const [text, parts] of [
    ['bank-a compensate 500', { service: 'bank-a', op: 'compensate', outcome: '500' }],
    ['[::1]:80 msg timeout', { service: '[::1]:80', op: 'msg', outcome: 'timeout' }],
    ['– no-progress', { outcome: 'no-progress' }],
    ['other', { outcome: 'other' }],
    ['', { outcome: '' }],
  ] as const) {
    it(`Reads ${JSON.stringify(text)}`, () => expect(readProblem(text)).toEqual(parts))
  }
})

describe('describeProblem', () => {
  it('A problem of a service is a sentence that begins with its name', () => {
    expect(describeProblem('bank-a compensate 500').headline).toBe('bank-a answers 500 (the compensation).')
    expect(describeProblem('ledger action timeout').headline).toBe(
      'ledger does not answer in time (the action).',
    )
  })
  it('A problem that is not known is shown as it stands', () => {
    expect(describeProblem('– later-word').headline).toBe('– later-word')
  })
})

/** They belong to no call, so a problem with one of them has a headline of its own. */
const WITHOUT_CALL = new Set(['no-progress', 'value-unusable', 'by-hand', 'record-unreadable'])

describe('describeOutcome', () => {
  it('Every outcome that has advice has a sentence of its own', () => {
    expect(ADVISED.length).toBeGreaterThan(15)
    for (const outcome of ADVISED) {
      const text = WITHOUT_CALL.has(outcome)
        ? describeProblem(`– ${outcome}`).headline
        : describeOutcome(outcome)
      expect(text, outcome).not.toMatch(/^fails with|^–/)
    }
  })
})
