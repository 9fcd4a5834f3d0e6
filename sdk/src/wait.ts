import type { TransactionView } from '@counterstep/protocol'
import { isUnavailable, NotFinalError } from './errors.ts'
import type { WaitOptions, WorkflowWaitOptions } from './options.ts'
import type { Setup } from './setup.ts'
import { sleep } from './sleep.ts'
import { fetchTransaction, isFinal } from './transaction.ts'

const FIRST_POLL_MS = 50
const POLL_MS_MAX = 1_000

/**
 * Reads the transaction again and again, at first every 50 ms and in the end every second. If no server answers for a
 * while, it goes on all the same.
 */
export async function waitUntilFinal(
  setup: Setup,
  gid: string,
  { timeoutMs = 60_000, signal, workflow }: WaitOptions & Partial<WorkflowWaitOptions<unknown>>,
): Promise<TransactionView> {
  const until = performance.now() + timeoutMs
  let seen: TransactionView | undefined
  let cause: unknown
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(POLL_MS_MAX, pollMs * 1.5)) {
    const leftMs = until - performance.now()
    try {
      const attempt = { ...setup, timeoutMs: Math.max(1, Math.min(setup.timeoutMs, leftMs)) }
      seen = await fetchTransaction(attempt, gid, {
        retryForMs: 0,
        ...(signal === undefined ? {} : { signal }),
      })
      if (workflow !== undefined) assertRuns(seen, workflow.name)
      if (isFinal(seen)) return seen
    } catch (error: unknown) {
      // An answer that is too long now would be as long the next time.
      if (!isUnavailable(error) || error.code === 'SAGA_ANSWER_TOO_LARGE') throw error
      cause = error
    }
    // Half of the delay is jitter, so that many waiting clients do not ask in step.
    const delayMs = pollMs * (0.5 + Math.random() / 2)
    if (performance.now() + delayMs >= until) throw new NotFinalError(gid, seen, cause)
    await sleep(delayMs, signal)
  }
}

function assertRuns({ gid, kind, workflow }: TransactionView, name: string): void {
  if (workflow?.name === name) return
  const other = workflow === undefined ? `is a ${kind}` : `runs the workflow ${workflow.name}`
  throw new TypeError(`${gid} ${other}, and not the workflow ${name}`)
}
