import type { EngineEvent } from '@counterstep/engine'
import type { Logger } from '../logger.ts'

/** Writes what the engine or the store reports to the log, under the event's stable name. */
export function logEvents(logger: Logger): (event: EngineEvent) => void {
  return function logEvent({ level, name, gid, detail, error }) {
    const fields = {
      event: name,
      ...(gid === undefined ? {} : { gid }),
      ...(detail === undefined ? {} : { detail }),
      ...(error === undefined ? {} : { err: error }),
    }
    logger[level](fields, name)
  }
}
