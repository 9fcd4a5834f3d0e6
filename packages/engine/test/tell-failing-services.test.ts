import { expect, it } from 'vitest'
import { tellFailingServices } from '../src/tell-failing-services.ts'
import { FakeTime, START_AT } from './support/fake-time.ts'
import { RecordingObserver } from './support/fixture.ts'

function fixture() {
  const time = new FakeTime()
  const seen = new RecordingObserver()
  const observer = tellFailingServices(seen, time.clock(), () => time.now)
  return {
    time,
    seen,
    fail: (outcome: string | number = 'refused', service = 'bank-a') =>
      observer.branchCalled('action', 'unknown', 5, service, outcome),
    answer: (result: 'success' | 'failure' | 'ongoing' = 'success', service = 'bank-a') =>
      observer.branchCalled('action', result, 5, service, 200),
  }
}

it('A service that is down leaves one line at its first failure, and one each time the failures have doubled', async () => {
  const { time, seen, fail } = fixture()
  await time.advance(1_000)
  for (let call = 0; call < 1_000; call++) fail(call < 3 ? 'refused' : 500)
  expect(seen.events.map(({ service }) => service?.failures)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
  const since = new Date(START_AT + 1_000).toISOString()
  expect(seen.events[0]).toEqual({
    level: 'warn',
    name: 'service-failing',
    detail: `bank-a action refused: 1 failed since ${since}`,
    service: { name: 'bank-a', op: 'action', outcome: 'refused', failures: 1, since },
  })
  expect(seen.events[2]?.detail).toBe(`bank-a action 500: 4 failed since ${since}`)
})

it.each(['success', 'failure', 'ongoing'] as const)(
  'A service that answers %s again is told once',
  (result) => {
    const { seen, fail, answer } = fixture()
    fail()
    fail()
    answer(result)
    answer(result)
    expect(seen.named('service-answers-again')).toMatchObject([{ level: 'info', service: { failures: 2 } }])
  },
)

it('A service that fails and answers by turns is told to answer again once a minute, and its failures by doubling', async () => {
  const { time, seen, fail, answer } = fixture()
  for (let second = 0; second < 600; second++) {
    for (let call = 0; call < 10; call++) {
      fail()
      answer()
    }
    await time.advance(1_000)
  }
  expect(seen.named('service-answers-again')).toHaveLength(10)
  expect(seen.named('service-failing').length).toBeLessThan(120)
})

it('Each service and each op is told by itself', () => {
  const { seen, fail, answer } = fixture()
  fail('refused', 'bank-a')
  fail('timeout', 'bank-b')
  answer('success', 'bank-b')
  expect(seen.events.map(({ name, service }) => `${service?.name} ${name}`)).toEqual([
    'bank-a service-failing',
    'bank-b service-failing',
    'bank-b service-answers-again',
  ])
})

it('Calls that this node has ended or never sent say nothing about a service', () => {
  const { seen, fail } = fixture()
  for (const word of ['closed', 'not-sent', 'busy', 'resources']) fail(word)
  expect(seen.events).toEqual([])
})

it('A flood of services is told as one beyond a bound, and old failures make room after an hour', async () => {
  const { time, seen, fail } = fixture()
  for (let n = 0; n < 5_000; n++) fail('dns', `host-${n}.test`)
  expect(seen.events.length).toBeLessThan(520)
  expect(seen.events.at(-1)?.service?.name).toBe('other')
  await time.advance(3_600_001)
  fail('dns', 'late.test')
  expect(seen.events.at(-1)?.service?.name).toBe('late.test')
})
