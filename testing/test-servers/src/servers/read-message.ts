/** Reads the reason why a server does not answer yet. It is shown if the server never does. */
export function readMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
