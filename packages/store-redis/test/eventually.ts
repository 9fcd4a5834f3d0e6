import { until } from '@counterstep/test-servers/until'

const EVENTUALLY_MS_MAX = 15_000

/** Repeats the check until the value is right. The last value is for the message. */
export async function eventually<Value>(
  what: string,
  look: () => Promise<Value> | Value,
  isRight: (value: Value) => boolean = Boolean,
): Promise<Value> {
  let value: Value | undefined
  const seen = await until(
    () => `${what}; last ${JSON.stringify(value)}`,
    EVENTUALLY_MS_MAX,
    async () => {
      value = await look()
      return isRight(value) && { value }
    },
  )
  return seen.value
}
