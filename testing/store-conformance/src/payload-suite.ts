import assert from 'node:assert/strict'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  aTransaction,
  claimRow,
  createRow,
  makeUpdate,
  read,
  saveRow,
} from './transactions.ts'

const LARGE_CHARACTERS = 256 * 1024
export const TEXTS = {
  empty: '',
  'not ASCII': 'Größe – 金額 – сумма – 💶 – e\u0301',
  'with NUL': 'before\u0000after\u0000',
  'with quotes': `'; DROP TABLE x; -- "\\ \r\n\t`,
  'trailing space': 'text   ',
  'a number': '007',
}

export function payloadSuite(test: DefineTest): void {
  for (const [name, text] of Object.entries(TEXTS)) {
    test(`A text is kept exactly: ${name}`, async (store) => {
      const row = await createRow(store, aDueTransaction('a', { definition: text, progress: text }))
      assert.deepEqual([row.definition, row.progress], [text, text])
      const after = await saveRow(store, makeUpdate(row, { type: 'keep' }, { progress: `${text}!` }))
      assert.deepEqual([after.definition, after.progress], [text, `${text}!`])
      assert.equal((await claimRow(store, 'a', 1_000)).definition, text)
    })
  }

  test('Several large payloads at once are kept whole', async (store) => {
    const texts = Array.from({ length: 12 }, (_, i) => `${i}${'ä'.repeat(LARGE_CHARACTERS)}${i}`)
    await Promise.all(
      texts.map((text, i) => store.create(aTransaction(`large-${i}`, { definition: text, progress: text }))),
    )
    for (const [i, text] of texts.entries()) {
      const row = await read(store, `large-${i}`)
      assert.ok(row.definition === text && row.progress === text)
    }
  })

  test('A progress may grow and shrink', async (store) => {
    let row = await createRow(store, aTransaction('a'))
    for (const length of [LARGE_CHARACTERS, 10, 4 * LARGE_CHARACTERS, 0]) {
      row = await saveRow(store, makeUpdate(row, { type: 'keep' }, { progress: 'p'.repeat(length) }))
      assert.equal(row.progress.length, length)
    }
  })
}
