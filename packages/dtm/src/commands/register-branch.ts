import { type Gid, isCounterstepError, isGid } from '@counterstep/protocol'
import { readNote } from '../definition/note.ts'
import type { Payload } from '../definition/payload.ts'
import { readStepRecord } from '../definition/step-record.ts'
import { buildTccBranch, buildXaBranch } from '../definition/two-phase-definition.ts'
import { type Answer, answerFailure, refuse, SUCCESS } from '../wire/answer.ts'
import { cutRepeated } from '../wire/cut-repeated.ts'
import { stripGid } from '../wire/read-gid.ts'
import type { Registration } from '../wire/read-registration.ts'
import type { CommandDeps } from './deps.ts'

/**
 * Adds a branch to a prepared TCC or XA, or stores what the client of a workflow reports. If the same branch comes again with the same content, it is stored once and the answer
 * is success: the first answer may have been lost. DTM answers such a repeat with an error.
 */
export async function registerBranch(
  registration: Registration,
  deps: CommandDeps,
  payload?: Payload,
): Promise<Answer> {
  const { engine, checkUrl, checkGrpc, caller } = deps
  const { trans_type = '' } = registration
  if (trans_type === 'workflow') return await storeStep(registration, payload, deps)
  if (trans_type !== 'tcc' && trans_type !== 'xa')
    throw refuse(`unknow trans type: ${cutRepeated(trans_type)}`)
  const gid = stripGid(registration.gid ?? '')
  const stored = isGid(gid) ? await engine.read(gid, caller) : undefined
  if (!isGid(gid) || stored?.kind !== trans_type || stored.status !== 'prepared')
    return answerNotPrepared(gid)
  const { contentType = 'application/json', protocol = 'http' } = readNote(stored.definition) ?? {}
  // Older servers leave only those alone that say from the start that they may be called over gRPC.
  const rules = { checkUrl, protocol, ...(stored.definition.callsGrpc === true ? { checkGrpc } : {}) }
  const branch =
    trans_type === 'xa'
      ? buildXaBranch(registration, rules)
      : buildTccBranch(registration, contentType, { ...rules, payload })
  return await answerRegistration(gid, () => engine.addBranch(gid, branch, caller))
}

async function answerRegistration(gid: Gid, register: () => Promise<unknown>): Promise<Answer> {
  try {
    await register()
    return SUCCESS
  } catch (error: unknown) {
    if (!isCounterstepError(error)) throw error
    switch (error.code) {
      case 'SAGA_UNKNOWN_GID':
      case 'SAGA_NOT_PREPARED':
      case 'SAGA_WRONG_KIND':
        return answerNotPrepared(gid)
      case 'SAGA_BRANCH_CONFLICT':
        throw refuse('storage: UniqueKeyConflict')
      default:
        throw error
    }
  }
}

/** Stores a step that the client of a workflow has done. The same again is a success, and another one of its name is refused. */
async function storeStep(
  registration: Registration,
  payload: Payload | undefined,
  { engine, caller }: CommandDeps,
): Promise<Answer> {
  const gid = stripGid(registration.gid ?? '')
  const record = readStepRecord(registration, payload)
  if (!isGid(gid)) return answerNotPrepared(gid)
  return await answerRegistration(gid, () => engine.addRecord(gid, record, caller))
}

function answerNotPrepared(gid: string): Answer {
  return answerFailure(`no trans with gid: ${cutRepeated(gid)} status: prepared found`)
}
