import { describe, expect, it } from 'vitest'
import { WordSearch } from '../src/word-search.ts'

function search(pieces: readonly string[]): readonly boolean[] {
  const words = new WordSearch()
  for (const piece of pieces) words.add(Buffer.from(piece))
  return [words.hasOngoing, words.hasFailure]
}

describe('the words of an answer', () => {
  it('The words of an answer are found wherever its pieces end', () => {
    for (const [text, found] of [
      ['{"dtm_result":"FAILURE"}', [false, true]],
      ['ONGOING, and FAILURE', [true, true]],
      ['ONGO ING FAIL URE', [false, false]],
    ] as const) {
      for (let first = 0; first <= text.length; first += 1)
        for (let second = first; second <= text.length; second += 1)
          expect(search([text.slice(0, first), text.slice(first, second), text.slice(second)])).toEqual(found)
      expect(search([...text])).toEqual(found)
    }
  })

  it('The words are found wherever small pieces are searched together, and beside large ones', () => {
    for (let before = 1_000; before < 1_040; before++) {
      expect(search([...'.'.repeat(before), ...'FAILURE', ...'.'.repeat(50)])).toEqual([false, true])
      const large = '.'.repeat(before)
      expect(search([...'ONG', large])).toEqual([false, false])
      expect(search([`${large}ONG`, ...'OI', 'NG', large])).toEqual([true, false])
      expect(search([`${large}ONG`, ...'OI', `NG${large}`])).toEqual([true, false])
    }
  })

  it('The words are found in a piece whose bytes are used again afterwards', () => {
    const words = new WordSearch()
    const bytes = Buffer.from('..FAIL')
    words.add(bytes)
    bytes.fill('x')
    words.add(Buffer.from('URE..'))
    expect(words.hasFailure).toBe(true)
  })
})
