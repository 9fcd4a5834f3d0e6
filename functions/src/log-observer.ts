import { type EngineObserver, type Logger, logEvents } from '@counterstep/engine'

/** An environment lives too shortly for counters of its own. The sweeper's gauges count for all of them. */
export function logObserver(logger: Logger): EngineObserver {
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
