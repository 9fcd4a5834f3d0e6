import { type EngineObserver, type Logger, logEvents } from '@counterstep/engine'

/**
 * Creates an observer that only logs. An environment does not live long enough for counters of its own, and the sweeper's
 * gauges count for all of them.
 */
export function createLogObserver(logger: Logger): EngineObserver {
  return {
    accepted: nothing,
    refused: nothing,
    finished: nothing,
    branchCalled: nothing,
    storeCalled: nothing,
    claimed: nothing,
    event: logEvents(logger),
  }
}

function nothing(): void {
  // These events are not counted.
}
