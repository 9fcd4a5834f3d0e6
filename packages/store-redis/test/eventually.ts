import { setTimeout as delay } from 'node:timers/promises'

const LOOK_MS = 10
const EVENTUALLY_MS_MAX = 15_000

/** Repeats the check until the condition holds. The last answer is for the message. */
export async function eventually<Value>(
  what: string,
  look: () => Promise<Value> | Value,
  isRight: (value: Value) => boolean = Boolean,
): Promise<Value> {
  const until = performance.now() + EVENTUALLY_MS_MAX
  for (;;) {
    const value = await look()
    if (isRight(value)) return value
    if (performance.now() > until)
      throw new Error(`not within ${EVENTUALLY_MS_MAX} ms: ${what}; last ${JSON.stringify(value)}`)
    await delay(LOOK_MS)
  }
}
