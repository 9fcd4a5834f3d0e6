/** The browser's clock may be wrong, so that ages and countdowns are computed from what the server said last. */
let offsetMs = Date.now() - performance.now()
let isExact = false

/** Learns the server's time from an answer's header. The header `date` has whole seconds, and does until an exact one came. */
export function learnServerTime(headers: Headers): void {
  const exact = Number(headers.get('counterstep-now') ?? Number.NaN)
  if (Number.isFinite(exact)) {
    offsetMs = exact - performance.now()
    isExact = true
    return
  }
  const date = Date.parse(headers.get('date') ?? '')
  if (isExact || !Number.isFinite(date)) return
  const drift = date - readServerTime()
  if (Math.abs(drift) > 2_000) offsetMs += drift
}

/** Epoch milliseconds by the server's clock. */
export function readServerTime(): number {
  return performance.now() + offsetMs
}
