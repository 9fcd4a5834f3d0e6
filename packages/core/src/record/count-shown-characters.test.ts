import { describe, expect, it } from 'vitest'
import { pause } from '../../test/operator.ts'
import { after, answered, parallel, sent } from '../../test/sagas.ts'
import type { Transaction } from '../transaction.ts'
import { countShownCharacters } from './count-shown-characters.ts'
import { viewTransaction } from './view.ts'

const plain = parallel(2)
const runs = Array.from({ length: 8 }, (_, n) => ({
  ...{ outcome: String(500 + n), from: n, count: 1, firstAt: 1_795_742_400_000, lastAt: 1_795_742_400_000 },
  excerpt: '"'.repeat(200),
}))
const grown = {
  ...plain,
  branches: plain.branches.map(({ action, compensate }) => ({
    action: { ...action, answer: '"'.repeat(1_024), runs },
    compensate: { ...compensate, answer: '"'.repeat(1_024), runs },
  })),
}

const TRANSACTIONS: Readonly<Record<string, Transaction>> = {
  'has long answers': grown,
  'was commanded often': after(
    plain,
    Array.from({ length: 20 }, (_, n) => pause(`p${n}`)),
  ),
  'has signals': {
    ...plain,
    signals: Array.from({ length: 64 }, (_, n) => ({
      name: 'paid',
      id: `${n}`.padStart(100, '0'),
      digest: 'd',
    })),
  },
}

function measureView(transaction: Transaction): number {
  return JSON.stringify(viewTransaction(transaction, transaction.status)).length
}

describe('the characters that are added to a view', () => {
  it('are none at first, nor after a plain success', () => {
    expect(countShownCharacters(plain)).toBe(0)
    expect(countShownCharacters(after(plain, [sent([0, 'action']), answered(0, 'action', 'success')]))).toBe(
      0,
    )
  })

  for (const [title, transaction] of Object.entries(TRANSACTIONS)) {
    it(`S42: are nearly as many as the view is longer: ${title}`, () => {
      const addedCharacters = measureView(transaction) - measureView(plain)
      expect(addedCharacters).toBeGreaterThan(2_000)
      expect(countShownCharacters(transaction)).toBeGreaterThan(0.75 * addedCharacters)
      expect(countShownCharacters(transaction)).toBeLessThan(1.5 * addedCharacters)
    })
  }
})
