import type { RetryPolicy, SagaSubmitRequest } from '@counterstep/protocol'

/** How a compensation fails: refused, in error, reset, or never answered. */
const KINDS = ['refuse', 'error', 'reset', 'hang'] as const

/** The delays are short, so that ten failed attempts, after which a person must look, are over within seconds. */
const RETRY: Partial<RetryPolicy> = { initialMs: 50, factor: 1.5, capMs: 1_000 }
const HANG_TIMEOUT_MS = 200

/** Its second branch refuses, and what the first one did cannot be undone. */
export function poisonSaga(index: number, url: string): SagaSubmitRequest & { readonly gid: string } {
  const kind = KINDS[index % KINDS.length] ?? KINDS[0]
  return {
    gid: `poison-${index}`,
    retry: RETRY,
    branches: [
      { action: `${url}/first`, compensation: `${url}/undo/${kind}`, timeoutMs: HANG_TIMEOUT_MS },
      { action: `${url}/refuse` },
    ],
  }
}
