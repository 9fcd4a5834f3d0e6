import { type Clock, StoreUnavailableError } from '@counterstep/core'
import type { EngineObserver } from './observer.ts'

/**
 * Reports an outage of the store only twice: when work first meets it, and when the store answers again. The work may be
 * tried many times between the two, and every call is counted all the same.
 */
export function tellOutages(observer: EngineObserver, clock: Clock): EngineObserver {
  let goneSince: number | undefined
  return {
    accepted: (...given) => observer.accepted(...given),
    refused: (code) => observer.refused(code),
    finished: (...given) => observer.finished(...given),
    branchCalled: (...given) => observer.branchCalled(...given),
    claimed: (count) => observer.claimed(count),
    storeCalled(verb, outcome, durationMs) {
      observer.storeCalled(verb, outcome, durationMs)
      if (goneSince === undefined || outcome === 'unavailable') return
      const detail = `after ${clock.now() - goneSince} ms`
      goneSince = undefined
      observer.event({ level: 'info', name: 'store-answers-again', detail })
    },
    event(event) {
      // Only warnings are dropped, because an error of that kind reports the fate of a transaction.
      if (event.level !== 'warn' || !(event.error instanceof StoreUnavailableError)) {
        observer.event(event)
        return
      }
      if (goneSince !== undefined) return
      goneSince = clock.now()
      observer.event({ level: 'warn', name: 'store-does-not-answer', detail: event.error.message })
    },
  }
}
