import { NAMED_SCHEMAS } from '@counterstep/protocol/schemas'
import * as z from 'zod'
import type { JsonObject } from './operation.ts'

/** The named schemas as JSON Schema 2020-12, which is what OpenAPI 3.1 speaks, each referring to the others by name. */
export function buildSchemaComponents(): JsonObject {
  // A registry of our own: ids in zod's global one appear twice, as `X` and `XInput`, and would mix with the host's.
  const registry = z.registry<{ readonly id: string }>()
  for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    target: 'draft-2020-12',
    io: 'input',
    metadata: z.globalRegistry,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      // From .readonly(), which is about TypeScript; in OpenAPI it would mean "never in a request".
      delete jsonSchema.readOnly
    },
  })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, removeDialect(schema)]))
}

function removeDialect({ $schema: _, $id: __, ...schema }: z.core.JSONSchema.BaseSchema): JsonObject {
  return schema
}
