import type { FastifyReply } from 'fastify'
import { expect, it } from 'vitest'
import { sendView } from '../src/http/send-view.ts'
import { buildView } from './scripted-engine.ts'

it('S17: A view that callers have waited for is written as JSON once, however many they are', () => {
  const sent: unknown[] = []
  const reply = {
    header: () => reply,
    send(text: unknown) {
      sent.push(text)
      return reply
    },
  } as unknown as FastifyReply
  let written = 0
  const plain = buildView('a', { status: 'succeeded' })
  const view = {
    ...plain,
    toJSON() {
      written++
      return plain
    },
  }
  for (let n = 0; n < 3; n++) sendView(reply, view, 10)
  expect(sent).toEqual(Array.from({ length: 3 }, () => JSON.stringify(plain)))
  expect(written).toBe(1)
})
