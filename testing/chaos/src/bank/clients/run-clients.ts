import type { Pace } from '../nemesis/pace.ts'
import type { Client } from './client.ts'
import type { ClientPlan } from './plan-transaction.ts'

/** Closed loop: so many clients at once, each with one transaction after the other. */
export const CALLERS = 64

export interface ClientRun {
  readonly plans: readonly ClientPlan[]
  readonly client: Client
  readonly pace: Pace
  /** Each submit is answered in the end: true, it was accepted; false, its client has left. */
  readonly onSettled: (isAccepted: boolean) => void
  /** Default: CALLERS. */
  readonly callers?: number
}

export async function runClients({
  plans,
  client,
  pace,
  onSettled,
  callers = CALLERS,
}: ClientRun): Promise<void> {
  let next = 0
  const caller = async () => {
    for (let plan = plans[next++]; plan !== undefined; plan = plans[next++]) {
      await pace.submitNext()
      const isAccepted = await client.submit(plan)
      onSettled(isAccepted)
      if (isAccepted) await client.follow(plan)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
}
