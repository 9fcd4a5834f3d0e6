import { createLogger } from '../src/logger.ts'

/** Makes a logger, and a list of the lines that it has written. */
export function createHeardLog() {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  return { lines, logger: createLogger({ level: 'debug', destination }) }
}
