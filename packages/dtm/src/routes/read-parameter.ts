import type { FastifyRequest } from 'fastify'

/** Reads a parameter of the query as Go does: the first of several counts, and a missing one is "". */
export function readParameter({ query }: FastifyRequest, name: string): string {
  const value: unknown = (query as Readonly<Record<string, unknown>>)[name]
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : ''
}
