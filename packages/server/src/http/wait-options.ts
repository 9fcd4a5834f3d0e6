import { watchCaller } from '@counterstep/access'
import type { WaitOptions } from '@counterstep/engine'
import type { FastifyReply } from 'fastify'

/** Builds the options of a call whose caller waits. It waits no longer once its connection has closed. */
export function toWaitOptions(waitSeconds: number | undefined, reply: FastifyReply): WaitOptions {
  if (waitSeconds === undefined) return {}
  return { waitMs: waitSeconds * 1000, gone: watchCaller(reply) }
}
