import type { FastifyReply } from 'fastify'

/** Returns a signal that aborts when the connection of a caller closes before its answer was written. */
export function watchCaller({ raw }: FastifyReply): AbortSignal {
  // The connection may have closed before this is called, and then it tells nothing more.
  if (raw.closed && !raw.writableFinished) return AbortSignal.abort()
  const gone = new AbortController()
  // An answered request closes too, and then there is nothing to end. The error of an abort costs as much as a small read.
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
