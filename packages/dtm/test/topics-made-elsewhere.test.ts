import { memoryStore } from '@counterstep/store-conformance'
import { expect, it } from 'vitest'
import { createDocumentTopicStore } from '../src/index.ts'
import { Topics } from '../src/topics/topics.ts'

it('All who ask for a topic that another node has just made get it, though they share an older list', async () => {
  let now = 0
  let writes = 0
  const kept = createDocumentTopicStore(memoryStore({ now: () => now }), () => `w-${writes++}`)
  let answer: (() => void) | undefined
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  let lists = 0
  const slow: typeof kept = {
    ...kept,
    async list() {
      lists += 1
      const isFirst = lists === 1
      const list = await kept.list()
      if (isFirst) await answered
      return list
    },
  }
  const node = new Topics(slow, { checkUrl: () => undefined }, () => now)
  const before = node.findSubscribers('t')
  now = 1
  await new Topics(kept, { checkUrl: () => undefined }, () => now).subscribe('t', 'http://127.0.0.1/a', '')
  now = 2
  const messages = [node.findSubscribers('t'), node.findSubscribers('t'), node.findSubscribers('t')]
  now = 3
  answer?.()
  expect(await Promise.all(messages)).toEqual(messages.map(() => ['http://127.0.0.1/a']))
  // The first request has begun to read the list, and the others wait for the same read.
  expect(lists).toBe(2)
  expect(await before).toEqual([])
})
