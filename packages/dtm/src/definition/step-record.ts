import type { StepRecord } from '@counterstep/core'
import { refuse, refuseUnprocessable } from '../wire/answer.ts'
import type { Registration } from '../wire/read-registration.ts'
import { readBranchId } from './branch-id.ts'
import { type Payload, toBase64 } from './payload.ts'

const DATA_BYTES_MAX = 64 * 1024
const OP = /^[\w.-]{1,64}$/

/** Reads what the client of a workflow reports of a step. Throws AnsweredError for what could not be told apart later. */
export function readStepRecord(
  { branch_id = '', op = '', status = '', data: text = '' }: Registration,
  payload: Payload = { text, isBase64: false },
): StepRecord {
  if (status !== 'succeed' && status !== 'failed')
    throw refuse('the status of a step of a workflow is neither succeed nor failed')
  if (!OP.test(op)) throw refuseUnprocessable('op must be 1–64 characters of A-Z a-z 0-9 _ . -')
  const data = toBase64(payload)
  if (Buffer.byteLength(data, 'base64') > DATA_BYTES_MAX)
    throw refuseUnprocessable(`the data of a step is over ${DATA_BYTES_MAX} bytes`)
  const state = status === 'succeed' ? 'succeeded' : 'failed'
  return { branchId: readBranchId(branch_id), op, status: state, data }
}
