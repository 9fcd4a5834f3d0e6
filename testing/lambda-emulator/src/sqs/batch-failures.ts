/** These messages of a batch come back. It is `all` if the function's answer does not have the form of such a list. */
export type BatchFailures = 'all' | ReadonlySet<string>

/**
 * Reads the answer of a function that reports failures of single messages. If it names none, all have succeeded. If it
 * names a message that is not in the batch, the whole batch fails.
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
