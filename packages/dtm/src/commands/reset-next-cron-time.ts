import { type Answer, SUCCESS } from '../wire/answer.ts'
import { readKnownGid, refuseUnknownGid } from '../wire/read-gid.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { callAtOnce } from './call-at-once.ts'
import type { CommandDeps } from './deps.ts'

/** Calls at once the branches that wait for their next call. A finished transaction stays as it is. */
export async function resetNextCronTime(request: DtmRequest, { engine }: CommandDeps): Promise<Answer> {
  const gid = readKnownGid(request.gid)
  if ((await callAtOnce(gid, engine)) === 'unknown') throw refuseUnknownGid(gid)
  return SUCCESS
}
