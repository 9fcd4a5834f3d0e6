import type { WaitOptions } from '@counterstep/engine'
import type { FastifyReply } from 'fastify'

/** Builds the options of a call whose caller waits. It waits no longer once its connection has closed. */
export function toWaitOptions(waitSeconds: number | undefined, { raw }: FastifyReply): WaitOptions {
  if (waitSeconds === undefined) return {}
  const gone = new AbortController()
  // An answered request closes too, and then there is nothing to end. The error of an abort costs as much as a small read.
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return { waitMs: waitSeconds * 1000, gone: gone.signal }
}
