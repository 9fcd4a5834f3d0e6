import type { JsonValue } from '@counterstep/protocol'
import type { SagaBranch } from '../definition.ts'
import type { WorkflowTransaction } from '../transaction.ts'

export interface LocalCall {
  readonly step: string
  readonly version: number
  readonly input?: JsonValue
  /** The step ran within a plan call, so only its compensation is ever called. The barrier's row has its input. */
  readonly hasRun?: true
}

/**
 * Builds the branch of a local step: a call to the handler, whose body says what the handler needs to know. Without a step it is
 * that of a slot of which nothing is known. There the barrier's row tells what is to be undone, if anything is. The headers
 * are those of all calls of the workflow, so no step keeps them.
 */
export function buildLocalBranch(
  { gid, definition, version = definition.version }: WorkflowTransaction,
  slot: string,
  call?: LocalCall,
): SagaBranch {
  const { handler, workflow } = definition
  const pinned = call?.version ?? version
  const head = {
    v: 1,
    workflow,
    ...(pinned === undefined ? {} : { version: pinned }),
    ...(call === undefined ? {} : { step: call.step }),
    ...(call?.input === undefined ? {} : { input: call.input }),
  }
  const write = (idempotencyKey: string) => JSON.stringify({ ...head, idempotencyKey })
  const content = { contentType: 'application/json', headers: {} }
  return {
    id: slot as SagaBranch['id'],
    action: handler,
    compensation: handler,
    body: call === undefined || call.hasRun ? '' : write(`${gid}/${slot}`),
    ...content,
    after: [],
    compensationContent: { body: write(`${gid}/${slot}/undo`), ...content },
  }
}
