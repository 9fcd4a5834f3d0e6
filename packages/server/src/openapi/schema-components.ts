import { NAMED_SCHEMAS } from '@counterstep/protocol/schemas'
import * as z from 'zod'
import type { JsonObject } from './operation.ts'

/** Builds the named schemas as JSON Schema 2020-12, which OpenAPI 3.1 uses. They refer to each other by name. */
export function buildSchemaComponents(): JsonObject {
  // This is a registry of our own: zod's global one writes each id twice, as `X` and `XInput`, and the user's app may
  // have schemas there, too.
  const registry = z.registry<{ readonly id: string }>()
  for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    target: 'draft-2020-12',
    io: 'input',
    metadata: z.globalRegistry,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      // It comes from .readonly(), which is about TypeScript. In OpenAPI it would mean "never in a request".
      delete jsonSchema.readOnly
    },
  })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, removeDialect(schema)]))
}

function removeDialect({ $schema: _, $id: __, ...schema }: z.core.JSONSchema.BaseSchema): JsonObject {
  return schema
}
