import { describe, expect, it } from 'vitest'
import { answered, asSaga, CREATED_AT, sent, serial } from '../../test/sagas.ts'
import { transition } from '../../test/transition.ts'
import type { SagaTransaction } from '../transaction.ts'
import type { TransactionEvent } from './events.ts'
import { hasHungBefore, hasLastAttemptHung, mayHangNext } from './hung-attempt.ts'

const FIRST = { branch: 0, op: 'action' } as const
const CLAIMED = { type: 'claimed', epoch: 2, sentUnknown: false } as const
const run = (outcome: string, from: number, count: number) => ({
  outcome,
  from,
  count,
  firstAt: 0,
  lastAt: 0,
})

function play(...events: readonly TransactionEvent[]): SagaTransaction {
  return events.reduce<SagaTransaction>(
    (saga, event) => asSaga(transition(saga, event, CREATED_AT).next),
    serial(2),
  )
}

describe('the last attempt of a call', () => {
  const ROWS = [
    ['none was made', 0, undefined, false],
    ['it was never answered', 1, undefined, true],
    ['it was answered', 1, [run('500', 1, 1)], false],
    ['it ended at its time limit', 1, [run('timeout', 1, 1)], true],
    ['it found no connection in time', 1, [run('connect-timeout', 1, 1)], true],
    ['an earlier one ended at its time limit', 2, [run('timeout', 1, 1), run('500', 2, 1)], false],
    ['an earlier one was answered', 2, [run('500', 1, 1)], true],
    ['many were answered', 9, [run('mixed', 1, 7), run('425', 8, 2)], false],
  ] as const
  for (const [name, attempts, runs, hung] of ROWS)
    it(`${hung ? 'has hung' : 'has not hung'} when ${name}`, () =>
      expect(hasLastAttemptHung(attempts, runs)).toBe(hung))
})

describe('a transaction that goes on', () => {
  const timeout = answered(0, 'action', 'unknown')
  const ROWS: readonly (readonly [string, SagaTransaction, boolean])[] = [
    ['nothing was called', play(), false],
    ['it is given back while a call is under way', play(sent([0, 'action'])), true],
    ['its owner died during a call', play(sent([0, 'action']), CLAIMED), true],
    ['a call has succeeded', play(sent([0, 'action']), answered(0, 'action', 'success')), false],
    ['a call ended at its time limit', play(sent([0, 'action']), timeout), true],
    [
      'an action hung, and the abort has other calls to make',
      play(sent([0, 'action']), CLAIMED, { type: 'abort-asked' }),
      false,
    ],
  ]
  for (const [name, saga, slow] of ROWS)
    it(`${slow ? 'may hang' : 'is not known to hang'} when ${name}`, () =>
      expect(mayHangNext(saga)).toBe(slow))

  it('tells of a call under way only the attempt before it', () => {
    expect(hasHungBefore(play(sent([0, 'action'])), FIRST)).toBe(false)
    expect(hasHungBefore(play(sent([0, 'action']), CLAIMED, sent([0, 'action'])), FIRST)).toBe(true)
  })
})
