import type { WakeUpQueue, WakeUpRequest } from '@counterstep/core'

/** Sends requests for slow transactions to a queue of their own, so that they hold no function that others need. */
export function splitBySpeed(quick: WakeUpQueue, slow: WakeUpQueue): WakeUpQueue {
  return {
    async schedule(requests: readonly WakeUpRequest[]): Promise<void> {
      const slowOnes = requests.filter(({ isSlow = false }) => isSlow)
      const quickOnes = requests.filter(({ isSlow = false }) => !isSlow)
      // Both are tried, even if one of the queues does not answer.
      const sent = await Promise.allSettled(
        [
          { queue: quick, wanted: quickOnes },
          { queue: slow, wanted: slowOnes },
        ].map(async ({ queue, wanted }) => {
          if (wanted.length > 0) await queue.schedule(wanted)
        }),
      )
      for (const result of sent) if (result.status === 'rejected') throw result.reason
    },
  }
}
