/** A browser has six connections of HTTP/1.1 to one server. Two of them are left to all tabs for what they ask. */
const PLACES = 4

/**
 * Does the work while this tab holds one of the places, which all tabs of the browser share. A stream without a place would
 * take the connection that another tab waits for. Undefined: all places are taken.
 */
export async function holdPlace<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  // A page that came over plain HTTP from another machine has no locks.
  if (!('locks' in navigator)) return await work()
  for (let place = 1; place <= PLACES; place++) {
    const held = await navigator.locks.request(
      `counterstep-stream-${place}`,
      { ifAvailable: true },
      async (lock) => (lock === null ? undefined : { result: await work() }),
    )
    if (held !== undefined) return held.result
  }
  return undefined
}
