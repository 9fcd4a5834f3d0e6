import { isCounterstepError, isGid } from '@counterstep/protocol'
import { readNote } from '../definition/note.ts'
import type { Payload } from '../definition/payload.ts'
import { buildTccBranch, buildXaBranch } from '../definition/two-phase-definition.ts'
import { type Answer, answerFailure, refuse, SUCCESS } from '../wire/answer.ts'
import { cutRepeated } from '../wire/cut-repeated.ts'
import { stripGid } from '../wire/read-gid.ts'
import type { Registration } from '../wire/read-registration.ts'
import { refuseUnsupported } from '../wire/refuse-unsupported.ts'
import type { CommandDeps } from './deps.ts'

/**
 * Adds a branch to a prepared TCC or XA. If the same branch comes again with the same content, it is stored once and the answer
 * is success: the first answer may have been lost. DTM answers such a repeat with an error.
 */
export async function registerBranch(
  registration: Registration,
  { engine, checkUrl, checkGrpc, caller }: CommandDeps,
  payload?: Payload,
): Promise<Answer> {
  const { trans_type = '' } = registration
  if (trans_type === 'workflow') throw refuseUnsupported('branches of type workflow are')
  if (trans_type !== 'tcc' && trans_type !== 'xa')
    throw refuse(`unknow trans type: ${cutRepeated(trans_type)}`)
  const gid = stripGid(registration.gid ?? '')
  const stored = isGid(gid) ? await engine.read(gid, caller) : undefined
  if (!isGid(gid) || stored?.kind !== trans_type || stored.status !== 'prepared')
    return answerNotPrepared(gid)
  const { contentType = 'application/json', protocol = 'http' } = readNote(stored.definition) ?? {}
  try {
    const rules = { checkUrl, checkGrpc, protocol }
    const branch =
      trans_type === 'xa'
        ? buildXaBranch(registration, rules)
        : buildTccBranch(registration, contentType, { ...rules, payload })
    await engine.addBranch(gid, branch, caller)
    return SUCCESS
  } catch (error: unknown) {
    if (!isCounterstepError(error)) throw error
    switch (error.code) {
      case 'SAGA_UNKNOWN_GID':
      case 'SAGA_NOT_PREPARED':
        return answerNotPrepared(gid)
      case 'SAGA_BRANCH_CONFLICT':
        throw refuse('storage: UniqueKeyConflict')
      default:
        throw error
    }
  }
}

function answerNotPrepared(gid: string): Answer {
  return answerFailure(`no trans with gid: ${gid} status: prepared found`)
}
