import type { RecordedPlan } from '../plan.ts'

const RUN_MS_MAX = 15_000

/** Starts the first run of a workflow. Its server starts every other one, so no answer is needed. */
export async function startWorkflow({ gid, data, leavesAt }: RecordedPlan, url: string): Promise<void> {
  const query = new URLSearchParams({ gid, ...(leavesAt === undefined ? {} : { leavesAt }) })
  try {
    const response = await fetch(`${url}/workflows?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(data),
      signal: AbortSignal.timeout(RUN_MS_MAX),
    })
    await response.arrayBuffer()
  } catch {
    // The run has died, or its answer was lost.
  }
}
