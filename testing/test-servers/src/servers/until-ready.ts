import { until } from '../until.ts'

/** Asks again until nothing is waited for any more. What is waited for last is in the message. */
export async function untilReady(
  what: string,
  limitMs: number,
  waitingFor: () => Promise<string | undefined>,
): Promise<void> {
  let reason: string | undefined
  await until(
    () => `${what} (${reason})`,
    limitMs,
    async () => {
      reason = await waitingFor()
      return reason === undefined
    },
  )
}
