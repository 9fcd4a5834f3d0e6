import { randomUUID } from 'node:crypto'
import type { Definition } from '@counterstep/core'
import { isCounterstepError } from '@counterstep/protocol'
import { buildMessageDefinition, type MessageContext } from '../definition/message-definition.ts'
import { buildSubmission } from '../definition/submission.ts'
import { buildTccDefinition, buildXaDefinition } from '../definition/two-phase-definition.ts'
import { type Answer, answerFailure, refuse, SUCCESS } from '../wire/answer.ts'
import { readGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { toStatusWord } from '../wire/status-word.ts'
import type { CommandDeps } from './deps.ts'
import { readKind } from './read-kind.ts'

/**
 * Stores a TCC, an XA or a message without running it. If the gid is already prepared, nothing changes and the answer is
 * success, even when the second body differs from the first.
 */
export async function prepare(request: DtmRequest, deps: CommandDeps): Promise<Answer> {
  const definition = await buildPreparedDefinition(request, deps)
  const gid = readGid(request.gid)
  try {
    const { engine, takeBytes, trace, caller } = deps
    const options = { takeBytes, trace, caller }
    await engine.accept(buildSubmission(gid, request, definition, randomUUID()), options)
    return SUCCESS
  } catch (error: unknown) {
    if (!isCounterstepError(error) || error.code !== 'SAGA_GID_CONFLICT') throw error
    const stored = await deps.engine.read(gid, deps.caller)
    // The transaction was purged after the conflict, so the client's next try will find the gid free.
    if (stored === undefined) throw error
    if (stored.status === 'prepared') return SUCCESS
    return answerFailure(`current status '${toStatusWord(stored.status)}', cannot prepare.`)
  }
}

async function buildPreparedDefinition(request: DtmRequest, context: MessageContext): Promise<Definition> {
  switch (readKind(request.trans_type)) {
    case 'tcc':
      return buildTccDefinition(request, context)
    case 'xa':
      return buildXaDefinition(request, context)
    case 'message':
      return await buildMessageDefinition(request, 'prepared', context)
    case 'saga':
      // No client prepares a saga: a saga needs nothing between its prepare and its submit.
      throw refuse('a saga is not prepared: submit it')
  }
}
