/** For a server that does not answer yet: the reason is shown if it never does. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
