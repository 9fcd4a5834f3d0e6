import { StoreUnavailableError } from '@counterstep/core'
import type { Invocation, Logger, RunOutcome } from '@counterstep/engine'
import type { Gid } from '@counterstep/protocol'
import type { LambdaContext, QueueAnswer, QueueEvent, QueueRecord } from './events.ts'
import type { FunctionParts } from './function-parts.ts'
import { readGids } from './wake-up-message.ts'

export type WorkerHandler = (event: QueueEvent, context: LambdaContext) => Promise<QueueAnswer>

interface WakeUp {
  readonly messageId: string
  readonly gids: readonly Gid[]
}

/**
 * Creates a handler that runs the transactions that the messages name, as many at the same time as the function has memory
 * for. A message has succeeded when each of its transactions is final, was given back to the store, belongs to another owner,
 * or has been asked for anew. It comes back only if the store was unavailable.
 */
export function createWorkerHandler({
  engine,
  logger,
}: Pick<FunctionParts, 'engine' | 'logger'>): WorkerHandler {
  return function handle({ Records }, context) {
    return engine.during(context.getRemainingTimeInMillis(), async (invocation) => {
      const wakeUps = Records.map((record) => readWakeUp(record, logger))
      const outcomes = new Map<Gid, Promise<RunOutcome>>()
      for (const gid of takeTurns(wakeUps.map(({ gids }) => gids)))
        outcomes.set(gid, runTransaction(gid, invocation, logger))
      const failures = wakeUps.map(async ({ messageId, gids }) => {
        const own = await Promise.all(gids.map((gid) => outcomes.get(gid)))
        return own.includes('left') ? [{ itemIdentifier: messageId }] : []
      })
      return { batchItemFailures: (await Promise.all(failures)).flat() }
    })
  }
}

function readWakeUp({ messageId, body }: QueueRecord, logger: Logger): WakeUp {
  const gids = readGids(body)
  // The message would be no better the next time, so it does not come back.
  if (gids === undefined) logger.error({ messageId }, 'a message that is not ours was dropped')
  return { messageId, gids: gids ?? [] }
}

/** Takes one of each list in turn, so that a transaction does not stand behind all of a message that came before its own. */
function takeTurns(lists: readonly (readonly Gid[])[]): Set<Gid> {
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  const turns = Array.from({ length: longest }, (_, turn) =>
    lists.flatMap((list) => list.slice(turn, turn + 1)),
  )
  return new Set(turns.flat())
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
