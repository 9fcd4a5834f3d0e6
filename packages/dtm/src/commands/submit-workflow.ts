import type { RecordedEnd } from '@counterstep/core'
import { isCounterstepError, isGid, REASON_LENGTH_MAX } from '@counterstep/protocol'
import { type Answer, refuse, refuseUnprocessable, SUCCESS } from '../wire/answer.ts'
import { stripGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { toWellFormed } from '../wire/to-well-formed.ts'
import type { CommandDeps } from './deps.ts'

/** DTM over MySQL keeps 1,024 characters. */
const RESULT_BYTES_MAX = 64 * 1024

/** Ends a workflow as its client says. No branch is called. The same end again is a success, and any other is refused. */
export async function submitWorkflow(request: DtmRequest, { engine, caller }: CommandDeps): Promise<Answer> {
  const gid = stripGid(request.gid)
  const end = readEnd(request.req_extra)
  if (!isGid(gid) || end === undefined) throw refuseUnknown()
  try {
    await engine.endRecorded(gid, end, caller)
    return SUCCESS
  } catch (error: unknown) {
    if (!isCounterstepError(error)) throw error
    switch (error.code) {
      case 'SAGA_UNKNOWN_GID':
      case 'SAGA_WRONG_KIND':
      case 'SAGA_ALREADY_FINAL':
        throw refuseUnknown()
      default:
        throw error
    }
  }
}

/** DTM stores any text as the status. Here only its two own ends are known. */
function readEnd(extra: Readonly<Record<string, string>>): RecordedEnd | undefined {
  const { status = '', result = '', rollback_reason: reason = '' } = extra
  if (Buffer.byteLength(result) > RESULT_BYTES_MAX)
    throw refuseUnprocessable(`the result of a workflow is over ${RESULT_BYTES_MAX} bytes`)
  if (status === 'succeed') return { status: 'succeeded', result: toWellFormed(result) }
  if (status === 'failed')
    return { status: 'failed', reason: toWellFormed(reason.slice(0, REASON_LENGTH_MAX)) }
  return undefined
}

/** These are DTM's words for a row that it cannot change. */
function refuseUnknown() {
  return refuse('storage: NotFound')
}
