import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ADVISED, adviseOn } from './advise-on.ts'
import { describeOutcome } from './describe-outcome.ts'
import { describeProblem, readProblem } from './describe-problem.ts'

describe('readProblem', () => {
  for (const [text, parts] of [
    ['bank-a compensate 500', { service: 'bank-a', op: 'compensate', outcome: '500' }],
    ['[::1]:80 msg timeout', { service: '[::1]:80', op: 'msg', outcome: 'timeout' }],
    ['order plan WORKFLOW_CHANGED', { service: 'order', op: 'plan', outcome: 'WORKFLOW_CHANGED' }],
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
  it('A problem of a plan call is about the handler of the workflow that it names', () => {
    expect(describeProblem('order plan 409')).toEqual({
      headline: 'The handler of order answers 409 (the plan call).',
      advice: 'Only 200 with a plan counts. Look at the log of the handler, and at proxies between.',
    })
    expect(describeProblem('order plan timeout').advice).toMatch(
      /^The function of the workflow.*timeoutMs\.$/,
    )
    expect(describeProblem('order plan 425').headline).toContain('not yet')
    expect(describeProblem('order plan WORKFLOW_UNKNOWN').headline).toContain(
      'it serves no workflow of this name',
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

/** The error words of the table in the guide for operators. */
function listGuideWords(): readonly string[] {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/operate.md'), 'utf8')
  const table = guide.slice(guide.indexOf('| last word | it means')).split('\n\n')[0] ?? ''
  const rows = table.split('\n').slice(2)
  return rows.flatMap((line) =>
    [...(line.split('|')[1] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, word]) => word ?? ''),
  )
}

/** It stands for all other words. */
const WITHOUT_SENTENCE = new Set(['other'])

describe('the tables', () => {
  it('Every error word of the guide has a sentence and advice of its own', () => {
    const words = listGuideWords()
    expect(words.length).toBeGreaterThan(15)
    for (const word of words.filter((each) => !WITHOUT_SENTENCE.has(each)))
      expect(describeOutcome(word), word).not.toContain(`fails with ${word}`)
    for (const word of words.filter((each) => each !== 'other'))
      expect(adviseOn(word), word).not.toBe("Look at the service's log.")
  })
})
