import { isCounterstepError, isGid } from '@counterstep/protocol'
import { readNote } from '../definition/note.ts'
import { tccBranch } from '../definition/tcc-definition.ts'
import { type Answer, failure, refuse, SUCCESS } from '../wire/answer.ts'
import { strippedGid } from '../wire/read-gid.ts'
import type { Registration } from '../wire/read-registration.ts'
import { notThereYet } from '../wire/refuse-unsupported.ts'
import type { CommandDeps } from './deps.ts'

/** Again with the same content: it is there once. DTM answers a repeat with an error, though its first answer may have been lost. */
export async function registerBranch(
  registration: Registration,
  { engine, checkUrl }: CommandDeps,
): Promise<Answer> {
  const { trans_type = '' } = registration
  if (trans_type === 'xa' || trans_type === 'workflow')
    throw notThereYet(`branches of type ${trans_type} are`)
  if (trans_type !== 'tcc') throw refuse(`unknow trans type: ${trans_type}`)
  const gid = strippedGid(registration.gid ?? '')
  const standing = isGid(gid) ? await engine.read(gid) : undefined
  if (!isGid(gid) || standing?.kind !== 'tcc' || standing.status !== 'prepared') return notPrepared(gid)
  const { contentType = 'application/json', protocol = 'http' } = readNote(standing.definition) ?? {}
  try {
    await engine.addBranch(gid, tccBranch(registration, contentType, { checkUrl, protocol }))
    return SUCCESS
  } catch (error: unknown) {
    if (!isCounterstepError(error)) throw error
    switch (error.code) {
      case 'SAGA_UNKNOWN_GID':
      case 'SAGA_NOT_PREPARED':
        return notPrepared(gid)
      case 'SAGA_BRANCH_CONFLICT':
        throw refuse('storage: UniqueKeyConflict')
      default:
        throw error
    }
  }
}

function notPrepared(gid: string): Answer {
  return failure(`no trans with gid: ${gid} status: prepared found`)
}
