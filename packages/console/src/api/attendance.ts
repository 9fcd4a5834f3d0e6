/** The person counts as there for so long after a key, a click or a turn of the wheel. */
const ATTENDED_MS = 60_000
const SIGNS = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const

let seenAt = performance.now()

/** Notes when the person does something, so that a page that is left open lets its session end as idle. */
export function watchAttendance(target: EventTarget): void {
  const note = () => {
    seenAt = performance.now()
  }
  for (const sign of SIGNS) target.addEventListener(sign, note, { capture: true, passive: true })
}

/** Says with a request that no person has asked for it: the page asks by itself. */
export function writeAttendance(): Readonly<Record<string, string>> {
  return performance.now() - seenAt > ATTENDED_MS ? { 'counterstep-unattended': '1' } : {}
}
