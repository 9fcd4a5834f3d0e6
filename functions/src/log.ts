import { guardLogger, type Logger, toLoggedError } from '@counterstep/engine'

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
type Level = (typeof LEVELS)[number]

/**
 * Creates a logger that writes lines of JSON to standard output, which CloudWatch takes as they are. Only those parts of
 * an error are logged that cannot contain a payload. A line that cannot be written stops no transaction.
 */
export function createLog(level: Level, write: (line: string) => void = writeLine): Logger {
  const from = LEVELS.indexOf(level)
  function line(of: Exclude<Level, 'silent'>) {
    return function log(fields: object, message: string): void {
      if (LEVELS.indexOf(of) < from) return
      const shown = 'err' in fields ? { ...fields, err: toLoggedError(fields.err) } : fields
      write(`${JSON.stringify({ level: of, time: new Date().toISOString(), message, ...shown })}\n`)
    }
  }
  return guardLogger({ info: line('info'), warn: line('warn'), error: line('error') })
}

function writeLine(line: string): void {
  process.stdout.write(line)
}
