import { until } from '../until.ts'

/** Asks again until the server is ready. The last reason is in the message of the error. */
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
