import { hasTwoPhases } from '@counterstep/core'
import {
  type Gid,
  isCounterstepError,
  isFinalStatus,
  REASON_LENGTH_MAX,
  TRANS_TYPES,
} from '@counterstep/protocol'
import { readNote } from '../definition/note.ts'
import { type Answer, answerFailure, ONGOING, SUCCESS } from '../wire/answer.ts'
import { readKnownGid, refuseUnknownGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { toStatusWord } from '../wire/status-word.ts'
import { toWellFormed } from '../wire/to-well-formed.ts'
import type { CommandDeps } from './deps.ts'
import { nudge } from './nudge.ts'
import { holdRequest, toWaitOptions } from './to-wait-options.ts'

/**
 * Aborts a prepared TCC, XA or message; a TCC or XA that is aborting already is tried again at once. The stored transaction
 * decides what may be done, so a request that names another type than the stored one is refused.
 */
export async function abort(request: DtmRequest, deps: CommandDeps): Promise<Answer> {
  const { engine, caller } = deps
  const gid = readKnownGid(request.gid)
  const stored = await engine.read(gid, caller)
  if (stored === undefined) throw refuseUnknownGid(gid)
  const { kind, status } = stored
  const hasDecision = hasTwoPhases(stored.definition)
  // A workflow ends only as its client says. DTM answers so, too, to a request that names the stored type.
  const isAbortable = (status === 'prepared' && kind !== 'recorded') || (hasDecision && status === 'aborting')
  if (!isAbortable || request.trans_type !== TRANS_TYPES[kind]) return answerCannotAbort(stored)
  const note = readNote(stored.definition)
  const waitMs = hasDecision && note?.waitResult ? note.waitMs : 0
  const reason = toWellFormed(request.rollback_reason.slice(0, REASON_LENGTH_MAX))
  if (status === 'aborting') await nudge(stored, engine, caller)
  try {
    const view = await engine.abort(gid, {
      ...holdRequest(toWaitOptions(waitMs, deps), request),
      caller,
      ...(reason === '' ? {} : { reason }),
    })
    return waitMs > 0 && !isFinalStatus(view.status) ? ONGOING : SUCCESS
  } catch (error: unknown) {
    if (!isRefusal(error)) throw error
    return answerCannotAbort(await readCurrent(gid, engine))
  }
}

function answerCannotAbort({
  kind,
  status,
}: Pick<Awaited<ReturnType<typeof readCurrent>>, 'kind' | 'status'>): Answer {
  return answerFailure(
    `trans type: '${TRANS_TYPES[kind]}' current status '${toStatusWord(status)}', cannot abort.`,
  )
}

async function readCurrent(gid: Gid, engine: CommandDeps['engine']) {
  const view = await engine.get(gid)
  if (view === undefined) throw refuseUnknownGid(gid)
  return view
}

function isRefusal(error: unknown): boolean {
  return (
    isCounterstepError(error) && (error.code === 'SAGA_NOT_PREPARED' || error.code === 'SAGA_ALREADY_FINAL')
  )
}
