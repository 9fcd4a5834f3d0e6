import { isFinalStatus, type TransactionView } from '@counterstep/protocol'
import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from './json-type.ts'
import { toSharedJson } from './shared-json.ts'

/**
 * Sends 200 with a final transaction, else 202 with its place. If the caller asked for a wait, a header says how long
 * it could last.
 */
export function sendView(
  reply: FastifyReply,
  view: TransactionView,
  waitSeconds: number | undefined,
): FastifyReply {
  if (waitSeconds !== undefined) reply.header('preference-applied', `wait=${waitSeconds}`)
  if (!isFinalStatus(view.status)) {
    const place = `${reply.server.prefix}/v1/transactions/${encodeURIComponent(view.gid)}`
    reply.code(202).header('location', place)
  }
  // Callers that have waited for the same end are sent the same view.
  const json = waitSeconds === undefined ? JSON.stringify(view) : toSharedJson(view)
  return reply.header('content-type', JSON_TYPE).send(json)
}
