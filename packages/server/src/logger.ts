import { type Logger, loggedError } from '@counterstep/engine'
import { type DestinationStream, pino } from 'pino'

export interface LoggerOptions {
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Default: standard output. */
  readonly destination?: DestinationStream
}

/** A pino logger whose errors are cut down to what cannot hold a payload. */
export function createLogger({ level = 'info', destination }: LoggerOptions = {}): Logger {
  const options = { level, serializers: { err: loggedError } }
  return destination === undefined ? pino(options) : pino(options, destination)
}

export const silentLogger: Logger = createLogger({ level: 'silent' })
