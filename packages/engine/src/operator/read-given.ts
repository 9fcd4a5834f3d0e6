import { CONFIRMATION, type Given as CoreGiven, type Ids } from '@counterstep/core'
import {
  COMMAND_ID_LENGTH_MAX,
  CounterstepError,
  type Fault,
  InvalidRequestError,
  REASON_LENGTH_MAX,
} from '@counterstep/protocol'
import type { Given } from '../engine-api.ts'

const COMMAND_ID = /^[A-Za-z0-9._:-]+$/
const PLAN_ID = /^[0-9a-f]{1,64}$/
const LONE_SURROGATE = /\p{Surrogate}/u

/** Checks who gave a command and why. A command without an id of its own gets one, so it is never taken for another. */
export function readGiven(given: Given, ids: Pick<Ids, 'writeId'>, needsReason: boolean): CoreGiven {
  const { commandId, by, reason, planId, confirm, bulk } = given
  const [first, ...others] = findFaults(given)
  if (first !== undefined) throw new InvalidRequestError([first, ...others])
  if (needsReason && (reason === undefined || reason.trim() === ''))
    throw new CounterstepError(
      'SAGA_REASON_REQUIRED',
      'this command needs a reason, which is kept in the trail',
    )
  return {
    id: commandId ?? ids.writeId(),
    by,
    ...(reason === undefined ? {} : { reason }),
    ...(confirm === undefined ? {} : { confirm }),
    ...(bulk === undefined ? {} : { bulk }),
    ...(planId === undefined ? {} : { planId }),
  }
}

function findFaults({ commandId, reason, planId, confirm }: Given): readonly Fault[] {
  const faults: Fault[] = []
  const add = (path: string, message: string) => faults.push({ code: 'SAGA_INVALID', path, message })
  const isId =
    commandId === undefined || (commandId.length <= COMMAND_ID_LENGTH_MAX && COMMAND_ID.test(commandId))
  if (!isId) add('/commandId', `must be 1 to ${COMMAND_ID_LENGTH_MAX} characters of A-Z a-z 0-9 . _ : -`)
  if (reason !== undefined && (reason.length > REASON_LENGTH_MAX || LONE_SURROGATE.test(reason)))
    add('/reason', `must be a text of at most ${REASON_LENGTH_MAX} characters that UTF-8 can carry`)
  if (planId !== undefined && !PLAN_ID.test(planId)) add('/planId', 'must be the planId of a preview')
  if (confirm !== undefined && confirm !== CONFIRMATION) add('/confirm', `must be ${CONFIRMATION}`)
  return faults
}
