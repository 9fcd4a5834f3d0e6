import { randomUUID } from 'node:crypto'
import type { ShownWhole } from '@counterstep/engine'
import { isCounterstepError } from '@counterstep/protocol'
import { buildRecordedDefinition } from '../definition/recorded-definition.ts'
import { buildSubmission } from '../definition/submission.ts'
import { showBranches, showTransaction } from '../view/show-transaction.ts'
import { type Answer, answerWith, refuse } from '../wire/answer.ts'
import { cutRepeated } from '../wire/cut-repeated.ts'
import { readGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import type { CommandDeps } from './deps.ts'

/**
 * Stores a workflow that its client is about to run. If the gid is there, its state and what the client has reported before is the
 * answer, whatever the body says, so that a client that begins again goes on where it was.
 */
export async function prepareWorkflow(request: DtmRequest, deps: CommandDeps): Promise<Answer> {
  if (request.trans_type !== 'workflow')
    throw refuse(`not a workflow, but of the type: ${cutRepeated(request.trans_type)}`)
  const gid = readGid(request.gid)
  const { engine, takeBytes, trace, caller } = deps
  const stored = await engine.showWhole(gid, caller)
  if (stored !== undefined) return answerStored(stored)
  const definition = buildRecordedDefinition(request, deps)
  try {
    await engine.accept(buildSubmission(gid, request, definition, randomUUID()), { takeBytes, trace })
  } catch (error: unknown) {
    // Another request has stored it meanwhile.
    if (!isCounterstepError(error) || error.code !== 'SAGA_GID_CONFLICT') throw error
  }
  const standing = await engine.showWhole(gid, caller)
  if (standing === undefined) throw refuse(`${gid} was deleted meanwhile: prepare it again`)
  return answerStored(standing)
}

function answerStored(stored: ShownWhole): Answer {
  if (stored.transaction.kind !== 'recorded')
    throw refuse(`${stored.view.gid} is taken by a transaction of another type`)
  return answerWith({ progresses: showBranches(stored), transaction: showTransaction(stored) })
}
