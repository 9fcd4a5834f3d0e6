import { getSpanId, getTraceId, type StoreEvent, type TraceContext } from '@counterstep/core'
import type { EngineEvent, FailingService } from './observer.ts'

/** The part of pino's logger that is used. Fields come first, and errors stand under `err`. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

type Reported = Omit<EngineEvent, 'name'> & { readonly name: EngineEvent['name'] | StoreEvent['name'] }

/** Returns a function that writes the events of the engine or the store to the log, under their stable names. */
export function logEvents(logger: Logger): (event: Reported) => void {
  return function logEvent({ level, name, gid, trace, detail, service, error, fields: more }) {
    const fields = {
      event: name,
      ...(gid === undefined ? {} : { gid }),
      ...(trace === undefined ? {} : toTraceFields(trace)),
      ...(detail === undefined ? {} : { detail }),
      ...(service === undefined ? {} : toFields(service)),
      ...(error === undefined ? {} : { err: error }),
      ...more,
    }
    logger[level](fields, name)
  }
}

/** Tools that join logs and traces look for these names. */
function toTraceFields(trace: TraceContext): object {
  return { trace_id: getTraceId(trace), span_id: getSpanId(trace) }
}

function toFields({ name, op, outcome, failures, since }: FailingService): object {
  return { service: name, op, outcome, failures, since }
}
