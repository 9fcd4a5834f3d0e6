import type { TransactionView } from '@counterstep/protocol'
import { assertPrepared, toAbortReason } from '../assert-prepared.ts'
import { callListener } from '../call-listener.ts'
import { command } from '../command.ts'
import type { SubmitOptions } from '../options.ts'
import { assertWaitMs } from '../prefer-wait.ts'
import type { Setup } from '../setup.ts'
import { submit } from '../submit.ts'
import { submitPrepared } from '../submit-prepared.ts'
import { waitUntilFinal } from '../wait.ts'
import { openTcc } from './tcc.ts'
import type { TccScope, TccSettings } from './tcc-types.ts'

/**
 * These are the options of a `runTcc`. `signal` ends its calls to the server; give it to the tries as well. `waitMs`
 * holds for a submit and for an abort: after an abort the error comes when all branches are cancelled, or when that
 * time is over.
 *
 * @example
 * ```ts
 * const options: RunTccOptions = { waitMs: 5_000, onUnsettled: (error) => console.error(error) }
 * ```
 */
export interface RunTccOptions extends SubmitOptions {
  /**
   * Is called with the reason why a TCC could not be aborted at once. Nothing is lost, because the TCC is cancelled at
   * its deadline. The function must not throw.
   */
  readonly onUnsettled?: (error: unknown) => void
}

/**
 * A TCC that was submitted: what the callback returned, and the transaction as the submit left it.
 *
 * @example
 * ```ts
 * const { answer, transaction }: SubmittedTcc<number> = await client.runTcc({}, async (tcc) => bookRoom(tcc))
 * ```
 */
export interface SubmittedTcc<Answer> {
  readonly answer: Answer
  readonly transaction: TransactionView
}

export async function runTcc<Answer>(
  setup: Setup,
  settings: TccSettings,
  callback: (tcc: TccScope) => Answer | Promise<Answer>,
  { waitMs = 0, onUnsettled, ...options }: RunTccOptions,
): Promise<SubmittedTcc<Answer>> {
  // A `waitMs` out of its range is refused before anything is tried.
  assertWaitMs(waitMs)
  const { request, scope, tries } = openTcc(setup, settings)
  assertPrepared(await submit(setup, request, options))
  let answer: Answer
  try {
    answer = await callback(scope)
    await tries.ended()
  } catch (error: unknown) {
    const turn = { ...options, reason: toAbortReason(error) }
    await command(setup, 'abort', scope.gid, turn)
      .then(() => waitUntilCancelled(setup, scope.gid, waitMs, options.signal))
      .catch((unsettled: unknown) => callListener(onUnsettled, unsettled))
    throw error
  }
  return { answer, transaction: await submitPrepared(setup, scope.gid, { ...options, waitMs }) }
}

/**
 * Waits until all branches are cancelled or the time is over. The abort is decided already and the callback's error
 * is thrown in any case, so an error of the wait is ignored.
 */
async function waitUntilCancelled(
  setup: Setup,
  gid: string,
  waitMs: number,
  signal?: AbortSignal,
): Promise<void> {
  if (waitMs === 0) return
  const wait = { timeoutMs: waitMs, ...(signal === undefined ? {} : { signal }) }
  await waitUntilFinal(setup, gid, wait).catch(() => undefined)
}
