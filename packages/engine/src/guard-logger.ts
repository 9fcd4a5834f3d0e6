import type { Logger } from './log-events.ts'

/**
 * Guards the transactions of this process from its log: a method that throws, as of a transport that has ended, would
 * stop the attempt that has only something to tell. The process is told instead, as by a warning of Node.
 */
export function guardLogger(logger: Logger): Logger {
  const guard = (level: keyof Logger) => (fields: object, message: string) => {
    try {
      logger[level](fields, message)
    } catch (fault: unknown) {
      process.emitWarning(`the log has thrown ${toText(fault)}, and lost: ${message}`, 'CounterstepWarning')
    }
  }
  return { info: guard('info'), warn: guard('warn'), error: guard('error') }
}

/** The value may come from a branch, and may throw again when it is made a text. */
function toText(fault: unknown): string {
  try {
    return String(fault)
  } catch {
    return `a value of the type ${typeof fault}`
  }
}
