import type { JsonValue } from '@counterstep/protocol'

/** Copies a value as a record keeps it: it is JSON there, so a function gets no more than that. */
export function copyThroughJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value ?? null))
}
