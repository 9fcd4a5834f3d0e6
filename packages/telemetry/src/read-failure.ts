/** The receiver writes part of it. */
const FAILURE_LENGTH_MAX = 512

/**
 * Returns what a log line says about a failure that OpenTelemetry reports. An error comes as JSON with its stack, which tells an operator
 * nothing; its name, its message and its code do.
 */
export function readFailure(text: string): string {
  const failure = readSentence(text)
  return failure.length <= FAILURE_LENGTH_MAX ? failure : `${failure.slice(0, FAILURE_LENGTH_MAX - 1)}…`
}

function readSentence(text: string): string {
  let error: unknown
  try {
    error = JSON.parse(text)
  } catch {
    return text
  }
  if (typeof error !== 'object' || error === null) return text
  const { name, message, code } = error as Record<string, unknown>
  const parts = [name, message, code].filter((part) => typeof part === 'string' && part !== '')
  return parts.length === 0 ? text : `telemetry could not be sent: ${parts.join(': ')}`
}
