import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 50
const LIMIT_MS = 20_000

/** Looks until it is so. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const limitAt = performance.now() + LIMIT_MS
  while (!(await isSo())) {
    if (performance.now() > limitAt) throw new Error(`not within ${LIMIT_MS} ms: ${what}`)
    await delay(POLL_MS)
  }
}
