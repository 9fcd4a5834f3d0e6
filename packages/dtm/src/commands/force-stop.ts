import { isCounterstepError } from '@counterstep/protocol'
import { type Answer, failure, SUCCESS } from '../wire/answer.ts'
import { readKnownGid, unknownGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { statusWord } from '../wire/status-word.ts'
import type { CommandDeps } from './deps.ts'

export async function forceStop(request: DtmRequest, { engine }: CommandDeps): Promise<Answer> {
  const gid = readKnownGid(request.gid)
  try {
    await engine.stop(gid)
    return SUCCESS
  } catch (error: unknown) {
    if (!isCounterstepError(error)) throw error
    if (error.code === 'SAGA_UNKNOWN_GID') throw unknownGid(gid)
    if (error.code !== 'SAGA_ALREADY_FINAL') throw error
    const status = (await engine.get(gid))?.status ?? 'failed'
    return failure(`global transaction force stop error. status: ${statusWord(status)}. error:`)
  }
}
