import { createLogger } from '../src/logger.ts'

/** A logger, and the lines that it has written. */
export function heardLog() {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  return { lines, logger: createLogger({ level: 'debug', destination }) }
}
