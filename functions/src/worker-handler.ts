import { StoreUnavailableError } from '@counterstep/core'
import type { Invocation, Logger, RunOutcome } from '@counterstep/engine'
import type { Gid } from '@counterstep/protocol'
import type { LambdaContext, QueueAnswer, QueueEvent, QueueRecord } from './events.ts'
import type { FunctionParts } from './function-parts.ts'
import { readWakeUpMessage, type WokenUp } from './wake-up-message.ts'

export type WorkerHandler = (event: QueueEvent, context: LambdaContext) => Promise<QueueAnswer>

interface WakeUp extends WokenUp {
  readonly messageId: string
}

/**
 * Creates a handler that runs the transactions that the messages name, as many at the same time as the function has memory
 * for. A message has succeeded when each of its transactions is final, was given back to the store, belongs to another owner,
 * or has been asked for anew. It comes back only if the store was unavailable, or the queue where it was asked for anew.
 */
export function createWorkerHandler({
  engine,
  logger,
}: Pick<FunctionParts, 'engine' | 'logger'>): WorkerHandler {
  return function handle({ Records }, context) {
    return engine.during(context.getRemainingTimeInMillis(), async (invocation) => {
      const wakeUps = Records.map((record) => readWakeUp(record, logger))
      const outcomes = new Map<Gid, Promise<RunOutcome>>()
      for (const [gid, group] of takeTurns(wakeUps))
        outcomes.set(gid, runTransaction(gid, group, invocation, logger))
      const failures = wakeUps.map(async ({ messageId, gids }) => {
        const own = await Promise.all(gids.map((gid) => outcomes.get(gid)))
        return own.includes('left') ? [{ itemIdentifier: messageId }] : []
      })
      return { batchItemFailures: (await Promise.all(failures)).flat() }
    })
  }
}

function readWakeUp({ messageId, body }: QueueRecord, logger: Logger): WakeUp {
  const read = readWakeUpMessage(body)
  // The message would be no better the next time, so it does not come back.
  if (read === undefined) logger.error({ messageId }, 'a message that is not ours was dropped')
  return { messageId, gids: [], ...read }
}

/**
 * Takes one transaction of each group in turn, so that it does not stand behind all of those that came before. A message
 * without a group is one of its own.
 */
function takeTurns(wakeUps: readonly WakeUp[]): Map<Gid, string | undefined> {
  const byGroup = new Map<string, [Gid, string | undefined][]>()
  for (const { messageId, group, gids } of wakeUps) {
    const key = group ?? messageId
    byGroup.set(key, [
      ...(byGroup.get(key) ?? []),
      ...gids.map((gid): [Gid, string | undefined] => [gid, group]),
    ])
  }
  const groups = [...byGroup.values()]
  const longest = Math.max(0, ...groups.map(({ length }) => length))
  const turns = Array.from({ length: longest }, (_, turn) =>
    groups.flatMap((group) => group.slice(turn, turn + 1)),
  )
  return new Map(turns.flat())
}

async function runTransaction(
  gid: Gid,
  group: string | undefined,
  invocation: Invocation,
  logger: Logger,
): Promise<RunOutcome> {
  try {
    return await invocation.runClaimed(gid, group)
  } catch (error: unknown) {
    const isUnavailable = error instanceof StoreUnavailableError
    const log = isUnavailable ? logger.warn : logger.error
    log({ gid, err: error }, 'it could not be claimed')
    // A bug would happen again with the same message, so it does not come back; the sweeper finds the row again.
    return isUnavailable ? 'left' : 'not-ours'
  }
}
