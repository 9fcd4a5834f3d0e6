/** Reads the submit of a workflow: the name of a function, the URL of its handler, and the input. */
import {
  ALERT_NAME,
  BRANCH_ID_RULE,
  GRANTS_MAX,
  INPUT_BYTES_MAX,
  isBranchId,
  type JsonValue,
  WORKFLOW_VERSION_MAX,
} from '@counterstep/protocol'
import type { WorkflowDefinition } from '../definition.ts'
import type { Writable } from '../writable.ts'
import { readInteger } from './faults.ts'
import { type BranchContext, parseUrl } from './parse-branch.ts'
import { utf8Length } from './utf8-length.ts'

type Body = Readonly<Record<string, unknown>>
type Common = Pick<WorkflowDefinition, 'retry' | 'timeoutMs' | 'checkpointMs' | 'name' | 'tags'>

export function readWorkflow(
  body: Body,
  common: Common,
  context: BranchContext,
  times: Pick<WorkflowDefinition, 'deadlineMs' | 'delayMs'>,
): WorkflowDefinition {
  const { faults, headers } = context
  const { workflow: name, input = null } = body
  if (!isBranchId(name)) faults.add('SAGA_WORKFLOW_INVALID', '/workflow', BRANCH_ID_RULE)
  const handler = parseUrl(body.handler, '/handler', context)
  const text = JSON.stringify(input as JsonValue)
  if (utf8Length(text, INPUT_BYTES_MAX) > INPUT_BYTES_MAX)
    faults.add('SAGA_PAYLOAD_TOO_LARGE', '/input', `is over ${INPUT_BYTES_MAX} bytes`)
  const grants = readInteger(
    body.grants,
    { min: 0, max: GRANTS_MAX },
    { code: 'SAGA_WORKFLOW_INVALID', path: '/grants' },
    faults,
  )
  const version = readInteger(
    body.version,
    { min: 1, max: WORKFLOW_VERSION_MAX },
    { code: 'SAGA_WORKFLOW_INVALID', path: '/version' },
    faults,
  )
  // A newer version could run its steps under the slots that an older one has been granted.
  if (grants !== undefined && grants > 0 && body.version === undefined)
    faults.add('SAGA_WORKFLOW_INVALID', '/version', 'must be given where there are grants')
  const { deadlineMs, delayMs } = times
  const definition: Writable<WorkflowDefinition> = {
    kind: 'workflow',
    workflow: typeof name === 'string' ? name : '',
    handler: handler ?? '',
    input: text,
    headers,
    ...common,
    ...nameByFunction(common, name),
  }
  if (version !== undefined) definition.version = version
  if (grants !== undefined && grants !== 0) definition.grants = grants
  if (deadlineMs !== undefined) definition.deadlineMs = deadlineMs
  if (delayMs !== undefined && delayMs !== 0) definition.delayMs = delayMs
  return definition
}

/** It is listed and counted under the name of its function unless it has another one. Alerts are told apart by theirs. */
function nameByFunction(common: Common, workflow: unknown): Pick<Common, 'name'> {
  return common.name === undefined && isBranchId(workflow) && workflow !== ALERT_NAME
    ? { name: workflow }
    : {}
}
