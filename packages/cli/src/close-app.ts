import { setTimeout as delay } from 'node:timers/promises'

/** Answers that are still being written have this long before their connections are cut. */
const CLOSE_MS = 1_000

interface ClosableApp {
  close(): PromiseLike<unknown>
  readonly server: { closeAllConnections(): void }
}

/** Closes the app. A connection that a client keeps open is cut, so that it cannot delay the stop. */
export async function closeApp(app: ClosableApp): Promise<void> {
  const waiting = new AbortController()
  const cut = delay(CLOSE_MS, undefined, { signal: waiting.signal }).then(
    () => app.server.closeAllConnections(),
    () => undefined,
  )
  await app.close()
  waiting.abort()
  await cut
}
