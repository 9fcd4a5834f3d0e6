import type { BulkCommand, BulkRequest } from '@counterstep/protocol'
import { quoteForShell } from '../parts/to-curl.ts'

/** One command for many transactions: those that were picked, or all that a filter finds by then. */
export interface BulkTarget {
  readonly command: BulkCommand
  readonly choice: { readonly gids: readonly string[] } | { readonly filter: string }
}

export const BULK_WORDS: Readonly<Record<BulkCommand, { readonly verb: string; readonly follows: string }>> =
  {
    retry: { verb: 'Retry', follows: 'What waits in them is called at once.' },
    pause: { verb: 'Pause', follows: 'No further call of them starts until they are resumed.' },
    resume: { verb: 'Resume', follows: 'The calls of those that are paused go on.' },
    abort: { verb: 'Abort', follows: 'What may have run in them is undone.' },
  }

export function toBulkRequest(
  { command, choice }: BulkTarget,
  fields: Pick<BulkRequest, 'reason' | 'canary' | 'ratePerSecond'>,
): BulkRequest {
  return { command, ...choice, ...fields }
}

export function toBulkCommandLine(request: BulkRequest): string {
  const { command, gids, filter = '', reason } = request
  const options = gids === undefined ? toFilterOptions(filter) : ['--gids -']
  const line = ['counterstep bulk start', command, ...options, '--reason', quoteForShell(reason)].join(' ')
  return gids === undefined ? line : `printf '%s\\n' ${gids.map(quoteForShell).join(' ')} | ${line}`
}

/** The command line has an option for each parameter of the list. A flag stands alone. */
function toFilterOptions(filter: string): string[] {
  const names: Readonly<Record<string, string>> = { byHand: 'by-hand', createdFrom: 'from', createdTo: 'to' }
  return [...new URLSearchParams(filter)].map(([name, value]) => {
    const option = `--${names[name] ?? name}`
    return value === 'true' ? option : `${option} ${quoteForShell(value)}`
  })
}
