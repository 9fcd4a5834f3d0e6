import { type Logger, toLoggedError } from '@counterstep/engine'
import { type DestinationStream, pino } from 'pino'
import { openLogDestination } from './log-destination.ts'

const STDOUT = 1

export interface LoggerOptions {
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Default: standard output. */
  readonly destination?: DestinationStream
}

/** A pino logger whose errors are cut down to what cannot hold a payload. */
export function createLogger({
  level = 'info',
  destination = openStandardOutput(),
}: LoggerOptions = {}): Logger {
  const options = { level, serializers: { err: toLoggedError } }
  return pino(options, destination)
}

let opened: DestinationStream | undefined

function openStandardOutput(): DestinationStream {
  opened ??= openLogDestination(STDOUT)
  return opened
}

export const silentLogger: Logger = createLogger({
  level: 'silent',
  destination: { write: () => undefined },
})
