import { expect, it } from 'vitest'
import { tellSilence } from '../../src/operator/run/tell-silence.ts'

it('A silence is told once while an answer is waited for, however many answers are late', async () => {
  let told = 0
  let wake: () => void = () => undefined
  const late = () => new Promise<string>((resolve) => (wake = () => resolve('late')))
  const heard = new Promise<void>((resolve) => setTimeout(resolve, 0))
  const operator = tellSilence(
    { now: () => 5, show: async () => 'at once', bulk: { list: late } },
    () => {
      told += 1
      wake()
    },
    1,
  )
  expect(operator.now()).toBe(5)
  expect(await operator.show()).toBe('at once')
  expect(await operator.bulk.list()).toBe('late')
  expect(told).toBe(1)
  const second = operator.bulk.list()
  await heard
  wake()
  expect(await second).toBe('late')
  expect(told).toBe(1)
})
