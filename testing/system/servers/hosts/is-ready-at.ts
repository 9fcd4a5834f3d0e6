/** Whether the HTTP API at this URL takes new work; a host that is gone does not. */
export async function isReadyAt(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health/ready`)).ok
  } catch (error: unknown) {
    // Fetch's word for a connection that is refused or cut.
    if (error instanceof TypeError) return false
    throw error
  }
}
