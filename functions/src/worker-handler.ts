import { StoreUnavailableError } from '@counterstep/core'
import type { Invocation, Logger, RunOutcome } from '@counterstep/engine'
import type { Gid } from '@counterstep/protocol'
import type { LambdaContext, QueueAnswer, QueueEvent, QueueRecord } from './events.ts'
import type { Home } from './function-parts.ts'
import { gidsOf } from './wake-up-message.ts'

export type WorkerHandler = (event: QueueEvent, context: LambdaContext) => Promise<QueueAnswer>

/**
 * Looks at what the messages name, all of it at once. A message has succeeded when each of its transactions is final,
 * given back, or another owner's; only what the infrastructure kept from that comes back.
 */
export function workerHandler({ engine, logger }: Pick<Home, 'engine' | 'logger'>): WorkerHandler {
  return function handle({ Records }, context) {
    return engine.during(context.getRemainingTimeInMillis(), async (invocation) => {
      const failures = await Promise.all(Records.map((record) => failureOf(record, invocation, logger)))
      return { batchItemFailures: failures.flat() }
    })
  }
}

async function failureOf(
  { messageId, body }: QueueRecord,
  invocation: Invocation,
  logger: Logger,
): Promise<{ readonly itemIdentifier: string }[]> {
  const gids = gidsOf(body)
  if (gids === undefined) {
    // It would be no better the next time.
    logger.error({ messageId }, 'a message that is not ours was dropped')
    return []
  }
  const outcomes = await Promise.all(gids.map((gid) => lookAt(gid, invocation, logger)))
  return outcomes.includes('left') ? [{ itemIdentifier: messageId }] : []
}

async function lookAt(gid: Gid, invocation: Invocation, logger: Logger): Promise<RunOutcome> {
  try {
    return await invocation.runClaimed(gid)
  } catch (error: unknown) {
    const isUnavailable = error instanceof StoreUnavailableError
    const log = isUnavailable ? logger.warn : logger.error
    log({ gid, err: error }, 'it could not be claimed')
    // A bug would be there the next time, too; the sweeper comes back to the row.
    return isUnavailable ? 'left' : 'not-ours'
  }
}
