import { StoreUnavailableError } from '@counterstep/core'
import type { Invocation, Logger, RunOutcome } from '@counterstep/engine'
import type { Gid } from '@counterstep/protocol'
import type { LambdaContext, QueueAnswer, QueueEvent, QueueRecord } from './events.ts'
import type { FunctionParts } from './function-parts.ts'
import { readGids } from './wake-up-message.ts'

export type WorkerHandler = (event: QueueEvent, context: LambdaContext) => Promise<QueueAnswer>

/**
 * Creates a handler that runs all transactions that the messages name at the same time. A message has succeeded when each
 * of its transactions is final, was given back to the store, or belongs to another owner. It comes back only if the store
 * was unavailable.
 */
export function createWorkerHandler({
  engine,
  logger,
}: Pick<FunctionParts, 'engine' | 'logger'>): WorkerHandler {
  return function handle({ Records }, context) {
    return engine.during(context.getRemainingTimeInMillis(), async (invocation) => {
      const failures = await Promise.all(Records.map((record) => runMessage(record, invocation, logger)))
      return { batchItemFailures: failures.flat() }
    })
  }
}

async function runMessage(
  { messageId, body }: QueueRecord,
  invocation: Invocation,
  logger: Logger,
): Promise<{ readonly itemIdentifier: string }[]> {
  const gids = readGids(body)
  if (gids === undefined) {
    // The message would be no better the next time, so it does not come back.
    logger.error({ messageId }, 'a message that is not ours was dropped')
    return []
  }
  const outcomes = await Promise.all(gids.map((gid) => runTransaction(gid, invocation, logger)))
  return outcomes.includes('left') ? [{ itemIdentifier: messageId }] : []
}

async function runTransaction(gid: Gid, invocation: Invocation, logger: Logger): Promise<RunOutcome> {
  try {
    return await invocation.runClaimed(gid)
  } catch (error: unknown) {
    const isUnavailable = error instanceof StoreUnavailableError
    const log = isUnavailable ? logger.warn : logger.error
    log({ gid, err: error }, 'it could not be claimed')
    // A bug would happen again with the same message, so it does not come back; the sweeper finds the row again.
    return isUnavailable ? 'left' : 'not-ours'
  }
}
