import { assertPrepared, toAbortReason } from '../assert-prepared.ts'
import { buildLocalCall, type MessageBarrier } from '../barrier/message-barrier.ts'
import { type FirstAnswer, withBarrier } from '../barrier/with-barrier.ts'
import { callListener } from '../call-listener.ts'
import { command } from '../command.ts'
import type { CallOptions } from '../options.ts'
import { assertWaitMs } from '../prefer-wait.ts'
import type { Setup } from '../setup.ts'
import { submitPrepared } from '../submit-prepared.ts'
import type { DoAndSubmitOptions, SubmittedMessage, TwoPhaseMessage } from './message-types.ts'

interface LocalWork<Tx, Effect, Answer extends Effect> {
  readonly barrier: MessageBarrier<Tx, Effect>
  readonly effect: (tx: Tx) => Answer | Promise<Answer>
}

export async function doAndSubmit<Tx, Effect, Answer extends Effect>(
  setup: Setup,
  { gid, prepare }: Pick<TwoPhaseMessage, 'gid' | 'prepare'>,
  { barrier, effect }: LocalWork<Tx, Effect, Answer>,
  { waitMs = 0, onUnsettled, ...options }: DoAndSubmitOptions,
): Promise<SubmittedMessage<FirstAnswer<Effect, Answer> | undefined>> {
  // Settings that cannot work are refused before anything is prepared.
  assertWaitMs(waitMs)
  barrier.assertHandler?.(effect)
  const prepared = await prepare(options)
  assertPrepared(prepared)
  const acceptedAt = prepared.createdAt
  let answer: FirstAnswer<Effect, Answer> | undefined
  try {
    answer = await withBarrier(barrier, buildLocalCall(gid, { acceptedAt }), effect)
  } catch (error: unknown) {
    await settle(setup, { gid, acceptedAt, error, options }, barrier).catch((unsettled: unknown) =>
      callListener(onUnsettled, unsettled),
    )
    throw error
  }
  return { answer, transaction: await submitPrepared(setup, gid, { ...options, waitMs }) }
}

interface Unsettled {
  readonly gid: string
  readonly acceptedAt: number
  readonly error: unknown
  readonly options: CallOptions
}

/**
 * Settles a message whose effect threw. The barrier is asked before the message is aborted, also after a business
 * failure: another process may run the local transaction of the same message, and only the row of the query-back keeps
 * that transaction from committing afterwards.
 */
async function settle(
  setup: Setup,
  { gid, acceptedAt, error, options }: Unsettled,
  barrier: Pick<MessageBarrier<never, never>, 'queryPrepared'>,
): Promise<void> {
  const outcome = await barrier.queryPrepared(gid, { acceptedAt })
  if (outcome === 'committed') await submitPrepared(setup, gid, options)
  else await command(setup, 'abort', gid, { ...options, reason: toAbortReason(error) })
}
