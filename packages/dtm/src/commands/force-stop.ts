import { isCounterstepError } from '@counterstep/protocol'
import { type Answer, answerFailure, SUCCESS } from '../wire/answer.ts'
import { readKnownGid, refuseUnknownGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { toStatusWord } from '../wire/status-word.ts'
import type { CommandDeps } from './deps.ts'

/** DTM's request has no reason, and a stop is not given without one. */
const REASON = 'forceStop of the DTM dialect'

export async function forceStop(request: DtmRequest, { engine }: CommandDeps): Promise<Answer> {
  const gid = readKnownGid(request.gid)
  try {
    await engine.stop(gid, { by: { via: 'dtm' }, reason: REASON })
    return SUCCESS
  } catch (error: unknown) {
    if (!isCounterstepError(error)) throw error
    if (error.code === 'SAGA_UNKNOWN_GID') throw refuseUnknownGid(gid)
    if (error.code !== 'SAGA_ALREADY_FINAL') throw error
    const status = (await engine.get(gid))?.status ?? 'failed'
    return answerFailure(`global transaction force stop error. status: ${toStatusWord(status)}. error:`)
  }
}
