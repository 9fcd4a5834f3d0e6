import { startServer } from '../../harness/server.ts'
import type { ScenarioContext } from '../../scenario.ts'
import type { Database } from '../../stores/store-host.ts'
import { toSubmitBody } from '../saga-job.ts'

const REFUSED = 'SAGA_URL_INVALID'

/**
 * Tells whether a branch may have an empty URL here, and so call no service. Asks a server on a database of its own.
 */
export async function takesEmptyUrls(
  { harness, settings }: ScenarioContext,
  database: Database,
): Promise<boolean> {
  const server = await startServer(harness, database, {})
  const response = await fetch(`${server.url}/v1/transactions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(toSubmitBody({ branchUrl: '', branches: settings.branches, isEmpty: true })),
  })
  const text = await response.text()
  await server.child.stop()
  if (response.ok) return true
  if (response.status === 422 && text.includes(REFUSED)) return false
  throw new Error(`a saga with empty URLs was answered ${response.status}: ${text}`)
}

/** Returns the report's note on its rows: whether their branches have empty URLs. */
export function emptyNote(isEmpty: boolean): string {
  return isEmpty
    ? 'the branches have empty URLs: nobody is called'
    : `CAUTION: this server refuses empty URLs (${REFUSED}), so branches that do nothing were called instead`
}
