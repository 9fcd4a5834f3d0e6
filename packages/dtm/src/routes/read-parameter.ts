import type { FastifyRequest } from 'fastify'

/** A parameter of the query; the first of several, "" for one that is not there, as Go reads it. */
export function queryOf({ query }: FastifyRequest, name: string): string {
  const value: unknown = (query as Readonly<Record<string, unknown>>)[name]
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : ''
}
