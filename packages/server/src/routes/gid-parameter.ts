import type { JsonObject } from '../openapi/operation.ts'

export const gidParameter: JsonObject = {
  name: 'gid',
  in: 'path',
  required: true,
  description: 'The gid is percent-encoded.',
  schema: { $ref: '#/components/schemas/Gid' },
}
