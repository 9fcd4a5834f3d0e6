import { type Logger, toLoggedError } from '@counterstep/engine'
import { type DestinationStream, pino } from 'pino'
import { openLogDestination } from './log-destination.ts'

const STDOUT = 1

export interface LoggerOptions {
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** The default is standard output. */
  readonly destination?: DestinationStream
}

/** Makes a pino logger that leaves out every part of an error that may contain a payload. */
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
