import type { TransactionView } from '@counterstep/protocol'
import type { SubmitOptions } from '../client.ts'
import { command } from '../command.ts'
import type { Setup } from '../setup.ts'
import { submit } from '../submit.ts'
import { submitPrepared } from '../submit-prepared.ts'
import { assertPrepared, reasonOf } from '../undecided.ts'
import { openTcc, type TccScope, type TccSettings } from './tcc.ts'

/**
 * What a `runTcc` may say for itself. `signal` ends its calls of the server; give it to the tries as well. `waitMs` counts
 * from the submit, or from the abort: then the error comes when all are cancelled, or after that time.
 *
 * @example
 * ```ts
 * const options: RunTccOptions = { waitMs: 5_000, onUnsettled: (error) => console.error(error) }
 * ```
 */
export interface RunTccOptions extends SubmitOptions {
  /** Hears why a TCC could not be aborted at once. Nothing is lost: its deadline cancels it. It must not throw. */
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
  const { request, scope, tries } = openTcc(setup, settings)
  assertPrepared(await submit(setup, request, options))
  let answer: Answer
  try {
    answer = await callback(scope)
    await tries.ended()
  } catch (error: unknown) {
    const turn = { ...options, waitMs, reason: reasonOf(error) }
    await command(setup, 'abort', scope.gid, turn).catch((unsettled: unknown) => onUnsettled?.(unsettled))
    throw error
  }
  return { answer, transaction: await submitPrepared(setup, scope.gid, { ...options, waitMs }) }
}
