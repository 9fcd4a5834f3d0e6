import { type Gid, isCounterstepError, isFinalStatus, REASON_LENGTH_MAX } from '@counterstep/protocol'
import { readNote } from '../definition/note.ts'
import { type Answer, failure, ONGOING, SUCCESS } from '../wire/answer.ts'
import { readKnownGid, unknownGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { statusWord, transType } from '../wire/status-word.ts'
import { wellFormed } from '../wire/to-well-formed.ts'
import type { CommandDeps } from './deps.ts'
import { nudge } from './nudge.ts'

/** A prepared TCC or message, or a TCC that is aborting already. What the transaction is counts, not what the request says it is. */
export async function abort(request: DtmRequest, { engine }: CommandDeps): Promise<Answer> {
  const gid = readKnownGid(request.gid)
  const standing = await engine.read(gid)
  if (standing === undefined) throw unknownGid(gid)
  const { kind, status } = standing
  const isAbortable = status === 'prepared' || (kind === 'tcc' && status === 'aborting')
  if (!isAbortable || request.trans_type !== transType(kind)) return cannotAbort(standing)
  const note = readNote(standing.definition)
  const waitMs = kind === 'tcc' && note?.waitResult ? note.waitMs : 0
  const reason = wellFormed(request.rollback_reason.slice(0, REASON_LENGTH_MAX))
  if (status === 'aborting') await nudge(gid, engine)
  try {
    const view = await engine.abort(gid, { waitMs, untilIdle: true, ...(reason === '' ? {} : { reason }) })
    return waitMs > 0 && !isFinalStatus(view.status) ? ONGOING : SUCCESS
  } catch (error: unknown) {
    if (!isRefusal(error)) throw error
    return cannotAbort(await nowOf(gid, engine))
  }
}

function cannotAbort({ kind, status }: Pick<Awaited<ReturnType<typeof nowOf>>, 'kind' | 'status'>): Answer {
  return failure(`trans type: '${transType(kind)}' current status '${statusWord(status)}', cannot abort.`)
}

async function nowOf(gid: Gid, engine: CommandDeps['engine']) {
  const view = await engine.get(gid)
  if (view === undefined) throw unknownGid(gid)
  return view
}

function isRefusal(error: unknown): boolean {
  return (
    isCounterstepError(error) && (error.code === 'SAGA_NOT_PREPARED' || error.code === 'SAGA_ALREADY_FINAL')
  )
}
