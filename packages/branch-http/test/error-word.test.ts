import { expect, it } from 'vitest'
import { toErrorWord, toSentErrorWord } from '../src/error-word.ts'

it('An error says that there was no connection only if the call was not sent', () => {
  const words = ['ETIMEDOUT', 'EHOSTUNREACH', 'ECONNREFUSED', 'ENOTFOUND'].map((code) => {
    const error = Object.assign(new Error('of the system'), { code })
    return [toErrorWord(error), toSentErrorWord(error)]
  })
  expect(words).toEqual([
    ['connect-timeout', 'reset'],
    ['unreachable', 'reset'],
    ['refused', 'reset'],
    ['dns', 'reset'],
  ])
})
