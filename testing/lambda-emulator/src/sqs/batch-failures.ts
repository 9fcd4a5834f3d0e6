/** Which messages of a batch come back: those named, or all of them because the answer is none of a worker. */
export type BatchFailures = 'all' | ReadonlySet<string>

/**
 * Reads the answer of a function that reports failures of single messages. Nothing named means that all succeeded; a
 * name that is none makes the whole batch fail.
 */
export function readBatchFailures(payload: string, messageIds: readonly string[]): BatchFailures {
  const answer: unknown = JSON.parse(payload)
  if (answer === null || answer === '') return new Set()
  if (typeof answer !== 'object') return 'all'
  const failures = (answer as { readonly batchItemFailures?: unknown }).batchItemFailures ?? []
  if (!Array.isArray(failures)) return 'all'
  const ids = failures.map((failure: { readonly itemIdentifier?: unknown } | null) => failure?.itemIdentifier)
  const known = new Set<unknown>(messageIds)
  return ids.every((id) => typeof id === 'string' && known.has(id)) ? new Set(ids as string[]) : 'all'
}
