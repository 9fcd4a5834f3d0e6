import type { Submitted } from './submitter.ts'

export interface Offered {
  readonly perSecond: number
  readonly seconds: number
}

const TICK_MS = 1

/**
 * Sends by a schedule that was fixed before and does not depend on the answers: a server that stalls is asked all the
 * same, as its callers would. Resolves when the last one has ended.
 */
export function openLoop(
  { perSecond, seconds }: Offered,
  send: (index: number, intendedAt: number) => Promise<Submitted>,
): Promise<readonly Submitted[]> {
  const count = Math.round(perSecond * seconds)
  const startedAt = performance.now()
  const sent: Promise<Submitted>[] = []
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => {
      const due = Math.min(count, Math.floor(((performance.now() - startedAt) / 1000) * perSecond))
      while (sent.length < due) {
        const index = sent.length
        sent.push(send(index, startedAt + (index * 1000) / perSecond))
      }
      if (sent.length < count) return
      clearInterval(timer)
      Promise.all(sent).then(resolve, reject)
    }, TICK_MS)
  })
}
