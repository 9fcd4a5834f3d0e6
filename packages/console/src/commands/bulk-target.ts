import type { BulkCommand, BulkPreview, BulkRequest, TransactionSummary } from '@counterstep/protocol'
import { quoteForShell, writeOption } from '../parts/to-curl.ts'

/** One command for many transactions: those that were picked, or all that a filter finds by then. */
export interface BulkTarget {
  readonly command: BulkCommand
  readonly choice: { readonly gids: readonly string[] } | { readonly filter: string }
  /** How many they were when the button was shown, if that was known. */
  readonly expected?: number
}

export const BULK_WORDS: Readonly<Record<BulkCommand, { readonly verb: string; readonly follows: string }>> =
  {
    retry: { verb: 'Retry', follows: 'What waits in them is called at once.' },
    pause: { verb: 'Pause', follows: 'No further call of them starts until they are resumed.' },
    resume: { verb: 'Resume', follows: 'The calls of those that are paused go on.' },
    abort: { verb: 'Abort', follows: 'What may have run in them is undone.' },
  }

export function toBulkRequest(
  { command, choice }: Pick<BulkTarget, 'command' | 'choice'>,
  fields: Pick<BulkRequest, 'reason' | 'canary' | 'ratePerSecond'>,
): BulkRequest {
  return { command, ...choice, ...fields }
}

/** Says why the preview has another number than the button that led to it. */
export function describeDrift(
  expected: number | undefined,
  { count, isExact }: Pick<BulkPreview, 'count' | 'isExact'>,
): string | undefined {
  if (expected === undefined || !isExact || count === expected) return undefined
  const drift = Math.abs(expected - count)
  const have = `${drift.toLocaleString()} ${drift === 1 ? 'has' : 'have'}`
  return count < expected
    ? `${have} got on by ${drift === 1 ? 'itself' : 'themselves'} since.`
    : `${have} come since.`
}

/** Leaves out an abort of what is being undone already. `isWhole`: the rows are all that would get the command. */
export function offerBulk(
  commands: readonly BulkCommand[],
  rows: readonly Pick<TransactionSummary, 'status'>[],
  isWhole: boolean,
): readonly BulkCommand[] {
  const isUndone = isWhole && rows.length > 0 && rows.every(({ status }) => status === 'aborting')
  return isUndone ? commands.filter((command) => command !== 'abort') : commands
}

export function toBulkCommandLine(request: BulkRequest): string {
  const { command, gids, filter = '', reason } = request
  const options = gids === undefined ? toFilterOptions(filter) : ['--gids -']
  const line = ['counterstep bulk start', command, ...options, writeOption('reason', reason)].join(' ')
  return gids === undefined ? line : `printf '%s\\n' ${gids.map(quoteForShell).join(' ')} | ${line}`
}

/** The command line has an option for each parameter of the list. A flag stands alone. */
function toFilterOptions(filter: string): string[] {
  const names: Readonly<Record<string, string>> = { byHand: 'by-hand', createdFrom: 'from', createdTo: 'to' }
  return [...new URLSearchParams(filter)].map(([name, value]) => {
    const option = names[name] ?? name
    return value === 'true' ? `--${option}` : writeOption(option, value)
  })
}
