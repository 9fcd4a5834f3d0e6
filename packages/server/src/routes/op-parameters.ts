import { OPS } from '@counterstep/protocol'
import type { JsonObject } from '../openapi/operation.ts'
import { gidParameter } from './gid-parameter.ts'

/** These name one op of one branch. The query-back of a message is the op `msg` of the branch `00`. */
export const opParameters: readonly JsonObject[] = [
  gidParameter,
  {
    name: 'branchId',
    in: 'path',
    required: true,
    description: 'The id of the branch, percent-encoded; 00 for the query-back of a message.',
    schema: { type: 'string', minLength: 1 },
  },
  { name: 'op', in: 'path', required: true, description: 'The op.', schema: { type: 'string', enum: OPS } },
]
