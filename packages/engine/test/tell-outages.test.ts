import { StoreUnavailableError } from '@counterstep/core'
import { expect, it } from 'vitest'
import { tellOutages } from '../src/tell-outages.ts'
import { FakeTime } from './support/fake-time.ts'
import { RecordingObserver } from './support/fixture.ts'

const GONE = new StoreUnavailableError('the server cannot be reached', { applied: 'no' })

function fixture() {
  const time = new FakeTime()
  const seen = new RecordingObserver()
  return { time, seen, observer: tellOutages(seen, time.clock()) }
}

it('An outage of the store is reported twice, however often it is met', () => {
  const { seen, observer } = fixture()
  for (let second = 0; second < 60; second++) {
    observer.storeCalled('claim-due', 'unavailable', 1)
    observer.event({ level: 'warn', name: 'claim-failed', error: GONE })
    observer.event({ level: 'warn', name: 'renewal-failed', error: GONE })
  }
  for (let call = 0; call < 3; call++) observer.storeCalled('claim-due', 'ok', 1)
  expect(seen.events).toEqual([
    { level: 'warn', name: 'store-does-not-answer', detail: GONE.message },
    { level: 'info', name: 'store-answers-again', detail: 'after 0 ms' },
  ])
})

it('The next outage is reported again', () => {
  const { seen, observer } = fixture()
  for (let outage = 0; outage < 2; outage++) {
    observer.event({ level: 'warn', name: 'claim-failed', error: GONE })
    observer.storeCalled('claim-due', 'ok', 1)
  }
  expect(seen.named('store-does-not-answer')).toHaveLength(2)
  expect(seen.named('store-answers-again')).toHaveLength(2)
})

it('Errors, and effects of an outage on a transaction, are reported each time', () => {
  const { seen, observer } = fixture()
  const errors = [
    { level: 'error', name: 'claim-failed', error: new TypeError('a bug') },
    { level: 'error', name: 'memory-ack-lost', error: GONE },
  ] as const
  observer.event({ level: 'warn', name: 'claim-failed', error: GONE })
  for (const event of errors) observer.event(event)
  expect(seen.events.slice(1)).toEqual(errors)
})
