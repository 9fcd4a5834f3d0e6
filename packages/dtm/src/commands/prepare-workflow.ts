import { randomUUID } from 'node:crypto'
import type { Transaction } from '@counterstep/core'
import type { ShownWhole } from '@counterstep/engine'
import { isCounterstepError } from '@counterstep/protocol'
import { readWorkflowData } from '../definition/custom-data.ts'
import { readNote } from '../definition/note.ts'
import { buildRecordedDefinition } from '../definition/recorded-definition.ts'
import { buildSubmission } from '../definition/submission.ts'
import { showBranches, showTransaction } from '../view/show-transaction.ts'
import { type Answer, answerWith, refuse } from '../wire/answer.ts'
import { cutRepeated } from '../wire/cut-repeated.ts'
import { readGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import type { CommandDeps } from './deps.ts'

/**
 * Stores a workflow that its client is about to run. If it is there, its state and what the client has reported before is the
 * answer, so that a client that begins again goes on where it was.
 */
export async function prepareWorkflow(request: DtmRequest, deps: CommandDeps): Promise<Answer> {
  if (request.trans_type !== 'workflow')
    throw refuse(`not a workflow, but of the type: ${cutRepeated(request.trans_type)}`)
  const gid = readGid(request.gid)
  const { engine, takeBytes, trace, caller } = deps
  const stored = await engine.readWhole(gid, caller)
  if (stored !== undefined) return answerStored(stored, request)
  const definition = buildRecordedDefinition(request, deps)
  try {
    await engine.accept(buildSubmission(gid, request, definition, randomUUID()), { takeBytes, trace, caller })
  } catch (error: unknown) {
    // Another request has stored it meanwhile.
    if (!isCounterstepError(error) || error.code !== 'SAGA_GID_CONFLICT') throw error
  }
  const standing = await engine.readWhole(gid, caller)
  if (standing === undefined) throw refuse(`${gid} was deleted meanwhile: prepare it again`)
  return answerStored(standing, request)
}

function answerStored(stored: ShownWhole, request: DtmRequest): Answer {
  const { view, transaction } = stored
  if (transaction.kind !== 'recorded') throw refuse(`${view.gid} is taken by a transaction of another type`)
  if (!isSameWorkflow(transaction, request))
    throw refuse(`${view.gid} is taken by a workflow with other content`)
  return answerWith({ progresses: showBranches(stored), transaction: showTransaction(stored) })
}

/**
 * Tells whether a request names the stored workflow and its data. What the workflow has done is shown to no other one. A
 * client that is called back knows both from the call; its own address and its options may have changed meanwhile.
 */
function isSameWorkflow({ definition }: Transaction, request: DtmRequest): boolean {
  const note = readNote(definition)
  if (note === undefined) return false
  if (note.customData === request.custom_data) return true
  const [stored, given] = [readWorkflowData(note.customData), readWorkflowData(request.custom_data)]
  return stored.name === given.name && stored.data.equals(given.data)
}
