import { expect, it } from 'vitest'
import { readBatchFailures } from './batch-failures.ts'

for (const [title, answer, expected] of [
  ['nothing', null, []],
  ['an empty text', '', []],
  ['an object without failures', {}, []],
  ['no failures', { batchItemFailures: [] }, []],
  ['null for failures', { batchItemFailures: null }, []],
  ['one of its messages', { batchItemFailures: [{ itemIdentifier: 'b' }] }, ['b']],
  ['a message that is not in the batch', { batchItemFailures: [{ itemIdentifier: 'x' }] }, 'all'],
  ['an empty name', { batchItemFailures: [{ itemIdentifier: '' }] }, 'all'],
  ['null for a name', { batchItemFailures: [{ itemIdentifier: null }] }, 'all'],
  ['a name under a wrong key', { batchItemFailures: [{ id: 'a' }] }, 'all'],
  ['null for a failure', { batchItemFailures: [null] }, 'all'],
  ['what is no list', { batchItemFailures: 'a' }, 'all'],
  ['a text', 'done', 'all'],
  ['a number', 1, 'all'],
] as const) {
  it(`A function's answer with ${title} brings ${expected === 'all' ? 'all messages' : expected.length === 0 ? 'no message' : 'that message'} back`, () => {
    const failures = readBatchFailures(JSON.stringify(answer), ['a', 'b'])
    expect(failures === 'all' ? failures : [...failures]).toEqual(expected)
  })
}
