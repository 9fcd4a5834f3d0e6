import { randomUUID } from 'node:crypto'
import type { Definition } from '@counterstep/core'
import { isCounterstepError } from '@counterstep/protocol'
import { type MessageContext, messageDefinition } from '../definition/message-definition.ts'
import { submissionOf } from '../definition/submission.ts'
import { tccDefinition } from '../definition/tcc-definition.ts'
import { type Answer, failure, refuse, SUCCESS } from '../wire/answer.ts'
import { readGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { statusWord } from '../wire/status-word.ts'
import type { CommandDeps } from './deps.ts'
import { readKind } from './read-kind.ts'

/** Again while it is prepared: nothing happens, whatever the second body says. */
export async function prepare(request: DtmRequest, deps: CommandDeps): Promise<Answer> {
  const definition = await preparedDefinition(request, deps)
  const gid = readGid(request.gid)
  try {
    const { engine, takeBytes } = deps
    await engine.accept(submissionOf(gid, request, definition, randomUUID()), { takeBytes })
    return SUCCESS
  } catch (error: unknown) {
    if (!isCounterstepError(error) || error.code !== 'SAGA_GID_CONFLICT') throw error
    const standing = await deps.engine.get(gid)
    // Gone meanwhile: purged. The next try finds the gid free.
    if (standing === undefined) throw error
    if (standing.status === 'prepared') return SUCCESS
    return failure(`current status '${statusWord(standing.status)}', cannot prepare.`)
  }
}

async function preparedDefinition(request: DtmRequest, context: MessageContext): Promise<Definition> {
  switch (readKind(request.trans_type)) {
    case 'tcc':
      return tccDefinition(request)
    case 'message':
      return await messageDefinition(request, 'prepared', context)
    case 'saga':
      // No client does it: there is nothing to wait for between the two.
      throw refuse('a saga is not prepared: submit it')
  }
}
