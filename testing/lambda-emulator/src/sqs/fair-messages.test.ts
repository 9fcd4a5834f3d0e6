import type { Message } from '@aws-sdk/client-sqs'
import { expect, it } from 'vitest'
import { FairMessages } from './fair-messages.ts'

function build(name: string, group?: string): Message {
  return { MessageId: name, ...(group === undefined ? {} : { Attributes: { MessageGroupId: group } }) }
}

function buildMany(group: string, count: number): readonly Message[] {
  return Array.from({ length: count }, (_, position) => build(`${group}${position}`, group))
}

const names = (messages: readonly Message[]) => messages.map(({ MessageId }) => MessageId)

it('Messages of a fair queue come in their order as long as no group is noisy', () => {
  const fair = new FairMessages()
  fair.add([build('a1', 'a'), build('b1', 'b'), build('c'), build('a2', 'a')])
  expect(names(fair.take(3))).toEqual(['a1', 'b1', 'c'])
  expect(names(fair.take(3))).toEqual(['a2'])
})

it('A group of which many are in flight stands behind others, and goes on when there are none', () => {
  const fair = new FairMessages()
  fair.add(buildMany('a', 50))
  fair.take(30)
  fair.add([build('b1', 'b'), build('c')])
  expect(names(fair.take(3))).toEqual(['b1', 'c', 'a30'])
})

it('A group on which most of the time is spent stands behind others until it has no more messages', () => {
  const fair = new FairMessages()
  fair.add(buildMany('a', 3))
  fair.end(fair.take(1), 1_000)
  fair.add([build('b1', 'b')])
  const taken = fair.take(3)
  expect(names(taken)).toEqual(['b1', 'a1', 'a2'])
  fair.end(taken, 1_000)
  fair.add([build('a3', 'a'), build('b2', 'b')])
  expect(names(fair.take(2))).toEqual(['a3', 'b2'])
})

it('If all groups are noisy, the one comes first of which the fewest are in flight', () => {
  const fair = new FairMessages()
  fair.add(buildMany('a', 20))
  fair.add(buildMany('b', 20))
  const first = fair.take(22)
  fair.end(first.slice(0, 15), 1_000)
  fair.end(first.slice(20), 1_000)
  // Five of a are in flight, and none of b.
  expect(names(fair.take(5))).toEqual(['b2', 'b3', 'b4', 'b5', 'b6'])
})
